import { expect, it } from 'vitest';
import pg from 'pg';
import { freshDatabase, type DatabaseTemplate, withClient } from './test-postgres.ts';

const rowsOf = (url: string, statement: string): Promise<unknown[]> =>
  withClient(url, async (client) => (await client.query(statement)).rows as unknown[]);

/** A template that counts how often it is migrated. */
const template = (key: string, statement: string): DatabaseTemplate & { runs: () => number } => {
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

it('databases of a template are copies of one that was migrated once', async () => {
  const flags = template('copies', "CREATE TABLE flag AS SELECT 'dark-mode' AS name");
  const [one, other] = await Promise.all([1, 2].map(() => freshDatabase('copy', flags)));
  await rowsOf(one?.url ?? '', 'DELETE FROM flag');
  expect(await rowsOf(other?.url ?? '', 'SELECT name FROM flag')).toEqual([{ name: 'dark-mode' }]);
  expect(await rowsOf((await freshDatabase('copy', flags)).url, 'SELECT name FROM flag')).toEqual([
    { name: 'dark-mode' },
  ]);
  expect(flags.runs()).toBe(1);
});

it('a failed migration rejects and leaves no half-migrated template', async () => {
  const broken = template('breaks', 'CREATE TABLE flag (name text); SELECT 1 / 0');
  await expect(freshDatabase('copy', broken)).rejects.toThrow(/division by zero/);
  await expect(freshDatabase('copy', broken)).rejects.toThrow(/division by zero/);
});
