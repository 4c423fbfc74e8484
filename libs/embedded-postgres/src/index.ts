export { EmbeddedPostgresError } from './embedded-postgres-error.ts';
export { freePort } from './free-port.ts';
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './start-embedded-postgres.ts';
export { connectOrStartEmbeddedPostgres } from './connect-or-start-embedded-postgres.ts';
export { commandEndingWithParent } from './command-ending-with-parent.ts';
export { isAlive } from './is-alive.ts';
export { programSearchPath } from './program-search-path.ts';
