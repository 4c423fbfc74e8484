import { openSingleConnection, withoutTimeout } from '../connection/open-single-connection.ts';
import { databaseOf } from '../connection/postgres-url.ts';

/** The SQLSTATE of a connection to a database that does not exist. */
export const missingDatabase = '3D000';

/** Creates the database of the URL where it is missing. A user of an existing database needs no right beyond it. */
export const createDatabaseIfMissing = async (url: string, lostAfterMs?: number): Promise<void> => {
  try {
    return await (await openSingleConnection(url, lostAfterMs)).end();
  } catch (error) {
    if ((error as { code?: string }).code !== missingDatabase) throw error;
  }
  const maintenance = new URL(url);
  const name = databaseOf(url);
  maintenance.pathname = '/postgres';
  const client = await openSingleConnection(maintenance.href, lostAfterMs);
  try {
    await client.query({ text: `create database ${client.escapeIdentifier(name)}`, ...withoutTimeout });
  } catch (error) {
    if ((error as { code?: string }).code !== '42P04' && (error as { code?: string }).code !== '23505') throw error;
  } finally {
    await client.end();
  }
};
