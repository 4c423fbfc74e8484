import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { isAlive } from '@bunting/embedded-postgres';
import pg from 'pg';
import { expect, it } from 'vitest';
import { eventually } from './assertions.ts';
import { type DatabaseTemplate, freshDatabase, withClient } from './test-postgres.ts';

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

it('the servers of a killed test process end, and their files are removed', async () => {
  const env = { ...process.env, TEST_POSTGRES_URL: '' };
  const script = new URL('../test/run-servers.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--no-warnings', script], { stdio: ['pipe', 'pipe', 'inherit'], env });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { nats, storeDir, database } = JSON.parse(line) as {
    nats: number;
    storeDir: string;
    database: string;
  };
  const postgresFolder = path.dirname(decodeURIComponent(new URL(database).hostname));
  expect([isAlive(nats), existsSync(storeDir), existsSync(postgresFolder)]).toEqual([true, true, true]);
  await withClient(database, (client) => client.query('SELECT 1'));

  child.kill('SIGKILL');
  await eventually(async () => {
    expect([isAlive(nats), existsSync(storeDir), existsSync(postgresFolder)]).toEqual([false, false, false]);
    await expect(withClient(database, (client) => client.query('SELECT 1'))).rejects.toThrow(/ECONNREFUSED|ENOENT/);
  });
});
