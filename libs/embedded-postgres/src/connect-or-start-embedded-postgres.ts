import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readPassword } from './data-folder.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { findRunningInstance } from './running-instance.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres, urlsOf } from './start-embedded-postgres.ts';

/** The time that a running PostgreSQL may take until it listens: after a crash it recovers first. */
const startingMs = 10_000;

/**
 * Connects to the PostgreSQL of an existing database folder: the running one, or else one started for the duration of the use. `stop()`
 * stops only the latter. A folder without a database is refused.
 */
export const connectOrStartEmbeddedPostgres = async (options: {
  readonly dataDir: string;
}): Promise<Pick<EmbeddedPostgres, 'urlOf' | 'stop'>> => {
  const dataDir = path.resolve(options.dataDir);
  const password = await readPassword(dataDir);
  if (password === undefined)
    throw new EmbeddedPostgresError(
      `There is no database in ${dataDir}: start Bunting on it first, or choose another folder.`,
    );
  for (const began = performance.now(); performance.now() - began < startingMs; await sleep(25)) {
    const other = await findRunningInstance(dataDir);
    if (other === undefined || other.stopping) break;
    if (other.port !== undefined) return { urlOf: urlsOf(password, other.port), stop: () => Promise.resolve() };
  }
  return startEmbeddedPostgres({ dataDir });
};
