import { type Database, openDatabase } from '@bunting/database';
import { readConfig } from '@bunting/runtime';
import { AuditConfig } from '../../apps/audit/src/config.ts';
import { auditMigrations } from '../../apps/audit/src/migrations/index.ts';
import { withDatabaseUrls } from '../databases/service-databases.ts';

/** Where the event log is, for the help of the programs that read it. */
export const eventLogLocationHelp = `AUDIT_DATABASE_URL (or its _FILE), else the data of npm start and npm run stack: BUNTING_DATA_DIR, else .bunting/`;

/**
 * Runs a job with the event log at the given URL, at that of the settings, or else of `npm start`, whether that runs or not. The log
 * must exist: reading it does not create one.
 */
export async function withEventLog<T>(
  name: string,
  urlOption: string | undefined,
  job: (log: Database) => Promise<T>,
): Promise<T> {
  const readLog = async (url: string): Promise<T> => {
    const log = await openDatabase({ url, name, migrations: auditMigrations, readOnlySchema: true, poolMax: 2 });
    return job(log).finally(() => log.close());
  };
  if (urlOption !== undefined) return readLog(urlOption);
  return withDatabaseUrls(process.env, { only: ['audit'] }, (environment) =>
    readLog(readConfig(AuditConfig, environment).AUDIT_DATABASE_URL),
  );
}
