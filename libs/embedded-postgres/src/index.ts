export { EmbeddedPostgresError } from './postgres-program.ts';
export { commandEndingWithParent, freePort, isAlive, programSearchPath } from './processes.ts';
export {
  connectOrStartEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './start-embedded-postgres.ts';
