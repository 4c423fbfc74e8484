import { type FreshDatabase, freshDatabase } from '@bunting/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { batchedRead, type Database, openDatabase } from './index.ts';

const flags = {
  name: 'flags',
  statements: [
    'create table flag (name text primary key, rolls integer not null)',
    "insert into flag select 'flag-' || nth, nth from generate_series(1, 100) as nth",
  ],
};

describe('a batched read', () => {
  let fresh: FreshDatabase;
  let database: Database;
  let rollsOf: (name: string, more: number) => Promise<{ rolls: number } | undefined>;

  beforeEach(async () => {
    fresh = await freshDatabase();
    database = await openDatabase({ url: fresh.url, name: 'test', migrations: [flags] });
    rollsOf = batchedRead<[string, number], { rolls: number }>(database, {
      text: `select requested.nth::integer, flag.rolls + requested.more as rolls
      from unnest($1::text[], $2::integer[]) with ordinality as requested (name, more, nth) join flag using (name)
      order by flag.rolls`,
    });
  });
  afterEach(async () => {
    await database.close();
    await fresh.drop();
  });

  it('serves concurrent callers, missing rows included, with a few statements', async () => {
    const before = database.statements;
    const request = Array.from({ length: 60 }, (_, nth) =>
      rollsOf(nth % 3 === 2 ? 'nowhere' : `flag-${60 - nth}`, nth),
    );
    const rolls = (await Promise.all(request)).map((row) => row?.rolls);
    expect(rolls).toEqual(Array.from({ length: 60 }, (_, nth) => (nth % 3 === 2 ? undefined : 60)));
    expect(database.statements - before).toBe(2);
  });

  it('sends one statement immediately for a single caller', async () => {
    const before = database.statements;
    expect(await rollsOf('flag-7', 0)).toMatchObject({ rolls: 7 });
    expect(database.statements - before).toBe(1);
  });

  it('never returns data older than the request, also while other batches are running', async () => {
    const answers = Array.from({ length: 40 }, async (_, nth) => {
      const [name, rolls] = [`flag-${nth + 1}`, 1_000 + nth];
      await database.transaction(({ query }) => query('update flag set rolls = $2 where name = $1', [name, rolls]));
      return [rolls, (await rollsOf(name, 0))?.rolls];
    });
    for (const [written, read] of await Promise.all(answers)) expect(read).toBe(written);
  });

  it('fails only for the callers of the failed batch, and works again for the next', async () => {
    const request = [rollsOf('flag-1', 0), rollsOf('flag-2', 2 ** 31 - 1), rollsOf('\0', 0), rollsOf('flag-3', 1)];
    const outcomes = await Promise.allSettled(request);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(outcomes[3]).toMatchObject({ value: { rolls: 4 } });
    expect(await rollsOf('flag-4', 1)).toMatchObject({ rolls: 5 });
  });
});
