import { eventually, type FreshDatabase, reservePort, freshDatabase, withClient } from '@bunting/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import path from 'node:path';
import { type Program, runProgram } from '../../apps/all-in-one/test/support/platform.ts';

let database: FreshDatabase;
let port: number;
const running: Program[] = [];
function startSearch(): Program {
  const settings = { SEARCH_DATABASE_URL: database.url, SEARCH_OPS_PORT: String(port), LOG_LEVEL: 'warn' };
  const started = runProgram(path.join('apps', 'search', 'src', 'main.ts'), settings);
  running.push(started);
  return started;
}
async function readiness() {
  return (await fetch(`http://127.0.0.1:${port}/health/ready`)).json();
}
function apply(name: string, statement: string) {
  return withClient(database.url, async (client) => {
    await client.query(statement);
    await client.query('insert into schema_migration (name) values ($1)', [name]);
  });
}
/** The content of the database, for the check that a refused start changes nothing. */
function tables() {
  return withClient(database.url, async (client) => {
    const columns = await client.query(
      "select table_name, column_name, data_type from information_schema.columns where table_schema = 'public' order by 1, 2",
    );
    return [columns.rows, (await client.query('select name from schema_migration order by id')).rows];
  });
}

beforeAll(async () => {
  database = await freshDatabase('newer');
  port = await reservePort();
});
afterAll(async () => {
  for (const one of running) one.signal('SIGKILL');
  await Promise.all(running.map((one) => one.ended));
  await database.drop();
});

it('shows how a newer version has expanded the schema of a running service, and refuses to run once it was contracted', async () => {
  const search = startSearch();
  await eventually(async () =>
    expect(await readiness()).toEqual({
      health: 'GOOD',
      schema: { needs: expect.any(Number), has: expect.any(Number), newer: [] },
    }),
  );
  await apply('3-expand-note', 'alter table feature_document add column note text');
  await eventually(async () => expect(await readiness()).toMatchObject({ schema: { newer: ['3-expand-note'] } }));

  await apply('4-contract-note', 'alter table feature_document drop column note');
  const reason =
    /^The database \S+ was written by a newer version of Bunting \(it has the migration "4-contract-note", which this version does not know\)\. Start that version, or restore a backup from before the upgrade\.\n?$/;
  await eventually(async () =>
    expect(await readiness()).toEqual({ health: 'BAD', reason: expect.stringMatching(reason) }),
  );
  search.signal('SIGTERM');
  await search.ended;

  const before = await tables();
  const refused = startSearch();
  expect((await refused.ended).code).toBe(1);
  expect(refused.errors()).toMatch(reason);
  expect(await tables()).toEqual(before);
});
