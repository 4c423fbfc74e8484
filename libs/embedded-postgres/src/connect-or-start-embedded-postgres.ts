import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readPassword } from './data-folder.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { findRunningInstance } from './running-instance.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres, urlsOf } from './start-embedded-postgres.ts';

/** The maximum time that a running PostgreSQL may take until it listens: after a crash it recovers first. */
const startTimeoutMs = 10_000;

/**
 * Connects to the PostgreSQL that runs on a database folder, or starts one. `stop()` stops only a PostgreSQL that was started here.
 * @throws EmbeddedPostgresError for a folder without a database
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
  for (const startedAt = performance.now(); performance.now() - startedAt < startTimeoutMs; await sleep(25)) {
    const instance = await findRunningInstance(dataDir);
    if (instance === undefined || instance.isStopping) break;
    if (instance.port !== undefined) return { urlOf: urlsOf(password, instance.port), stop: () => Promise.resolve() };
  }
  return startEmbeddedPostgres({ dataDir });
};
