import { expect, it } from '@jest/globals';
import pg from 'pg';
import { freshDatabase, type Preparation } from './postgres.ts';
import { withClient } from './postgres-server.ts';

const rowsOf = (url: string, statement: string): Promise<unknown[]> =>
  withClient(url, async (client) => (await client.query(statement)).rows as unknown[]);

/** A preparation that counts how often it is done. */
const preparation = (key: string, statement: string): Preparation & { runs: () => number } => {
  let runs = 0;
  const migrate = async (url: string): Promise<void> => {
    runs += 1;
    await rowsOf(url, statement);
  };
  return { key, migrate, runs: () => runs };
};

it('a fresh database is empty, isolated, and removed when it is dropped', async () => {
  const [one, other] = await Promise.all([freshDatabase('Überlang & hostile'.repeat(9)), freshDatabase()]);
  await rowsOf(one.url, 'CREATE TABLE flag (name text)');
  expect(await rowsOf(other.url, "SELECT to_regclass('flag') AS flag")).toEqual([{ flag: null }]);

  const connected = new pg.Client({ connectionString: one.url });
  const cut = new Promise((resolve) => connected.on('error', resolve));
  await connected.connect();
  await one.drop();
  await cut;
  await expect(rowsOf(one.url, 'SELECT 1')).rejects.toThrow(/does not exist/);
  await one.drop();
});

it('prepared databases are copies of one that was prepared once', async () => {
  const flags = preparation('copies', "CREATE TABLE flag AS SELECT 'dark-mode' AS name");
  const [one, other] = await Promise.all([1, 2].map(() => freshDatabase('copy', flags)));
  await rowsOf(one?.url ?? '', 'DELETE FROM flag');
  expect(await rowsOf(other?.url ?? '', 'SELECT name FROM flag')).toEqual([{ name: 'dark-mode' }]);
  expect(await rowsOf((await freshDatabase('copy', flags)).url, 'SELECT name FROM flag')).toEqual([
    { name: 'dark-mode' },
  ]);
  expect(flags.runs()).toBe(1);
});

it('a failed preparation rejects and leaves no half-prepared template', async () => {
  const broken = preparation('breaks', 'CREATE TABLE flag (name text); SELECT 1 / 0');
  await expect(freshDatabase('copy', broken)).rejects.toThrow(/division by zero/);
  await expect(freshDatabase('copy', broken)).rejects.toThrow(/division by zero/);
});
