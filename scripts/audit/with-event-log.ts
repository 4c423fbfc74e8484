import { type Database, openDatabase } from '@bunting/database';
import { connectOrStartEmbeddedPostgres } from '@bunting/embedded-postgres';
import { consumerTables } from '@bunting/outbox';
import { readConfig } from '@bunting/runtime';
import path from 'node:path';
import { AuditConfig } from '../../apps/audit/src/config.ts';
import { logMigrations } from '../../apps/audit/src/persistence/migrations.ts';

/** Where the event log is, for the help of the programs that read it. */
export const defaultLogLocation = `AUDIT_DATABASE_URL (or its _FILE), else the data of npm start and npm run stack: BUNTING_DATA_DIR, else .bunting/`;

const repository = path.join(import.meta.dirname, '../..');

/**
 * Runs a job with the event log at the URL, or that of `npm start`, running or not. The log must exist: reading it does not
 * create one.
 */
export const withEventLog = async <T>(
  name: string,
  urlOption: string | undefined,
  job: (log: Database) => Promise<T>,
): Promise<T> => {
  const { AUDIT_DATABASE_URL: urlSetting, AUDIT_DATABASE_URL_FILE: urlFile } = process.env;
  const url = urlOption ?? (urlSetting || urlFile ? readConfig(AuditConfig, process.env).AUDIT_DATABASE_URL : '');
  const dataDir = path.resolve(process.env['BUNTING_DATA_DIR'] || path.join(repository, '.bunting'), 'postgres');
  const embedded = url === '' ? await connectOrStartEmbeddedPostgres({ dataDir }) : undefined;
  try {
    const log = await openDatabase({
      url: embedded?.urlOf('bunting_audit') ?? url,
      name,
      migrations: [...logMigrations, consumerTables],
      readOnlySchema: true,
      poolMax: 2,
    });
    return await job(log).finally(() => log.close());
  } finally {
    await embedded?.stop();
  }
};
