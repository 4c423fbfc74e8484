import pg from 'pg';
import { BackupError } from './manifest.ts';
import type { ServiceDatabase } from '../databases/service-databases.ts';

/** Connects to a database. @throws BackupError if it cannot be reached */
export async function connectToServiceDatabase({ service, url }: ServiceDatabase): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'bunting-backup',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  // The query that fails reports a lost connection; without a listener the error would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(
      'set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set transaction_timeout = 0',
    );
  } catch (error) {
    await client.end().catch(() => undefined);
    const { host, pathname } = new URL(url);
    throw new BackupError(
      `The database of ${service} (${host}${pathname}) cannot be opened: ${(error as Error).message}. Start it, or correct its address.`,
      { cause: error },
    );
  }
  return client;
}

const countSessions = `
  select count(*)::int as count from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;

/** Throws a BackupError if a program is connected to the database. */
export async function requireNoOtherSession({ service, database }: ServiceDatabase, client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ count: number }>(countSessions);
  const sessions = rows[0]?.count ?? 0;
  if (sessions === 0) return;
  throw new BackupError(
    `The database ${database} of ${service} is in use (${sessions} connections). Nothing was changed. Stop all services, and try again.`,
  );
}
