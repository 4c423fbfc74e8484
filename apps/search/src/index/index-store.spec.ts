import { type Database, openDatabase } from '@bunting/database';
import { freshDatabase } from '@bunting/testing';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { searchMigrations } from '../migrations/index.ts';
import { indexReplicationRepository } from './index-store.ts';

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;

beforeAll(async () => {
  fresh = await freshDatabase('index-store');
  database = await openDatabase({ url: fresh.url, name: 'spec', migrations: searchMigrations });
});

afterAll(async () => {
  await database.close();
  await fresh.drop();
});
afterEach(() => database.transaction(({ query }) => query('truncate feature_change, search_index')));

it('the changes for an index come in the order of their transactions, page by page, whatever the length of their numbers', async () => {
  const inOrder = ['8', '9', '10', '98', '99', '100', '101', '999', '1000'];
  await database.transaction(({ query }) =>
    query(
      `insert into feature_change (name, changed)
      select name || '-' || changed, changed::xid8 from unnest($1::text[]) as changed cross join unnest(array['a', 'b']) as name`,
      [inOrder],
    ),
  );
  const { changes } = indexReplicationRepository(database);
  const read: string[] = [];
  for (let after: { changed: string; name: string } | undefined = { changed: '8', name: '' }; after !== undefined;) {
    const page = await changes(after, 3);
    read.push(...page.map(({ name }) => name));
    after = page.at(-1);
  }
  expect(read).toEqual(inOrder.flatMap((changed) => [`a-${changed}`, `b-${changed}`]));
});

it('whether the index has the newest change is known without reading all others, for each search asks for it', async () => {
  await database.transaction(async ({ query }) => {
    await query(
      `insert into feature_change (name, changed) select 'old-' || nth, '2000' from generate_series(1, 20000) as nth`,
    );
    await query(
      `insert into search_index (uid, generation, checkpoint_xid, saved_at) values ('idle', gen_random_uuid(), '2001', now() - interval '1 hour')`,
    );
    await query('analyze feature_change');
  });
  const scannedRows = async (): Promise<number> => {
    await database.read({ text: 'select pg_stat_force_next_flush()' });
    const statement = {
      text: `select seq_tup_read::integer as rows from pg_stat_user_tables where relname = 'feature_change'`,
    };
    return (await database.read<{ rows: number }>(statement))[0]?.rows ?? NaN;
  };
  const { searchable, countIfUnchangedSince } = indexReplicationRepository(database);
  const before = await scannedRows();
  expect(await searchable('idle', [])).toMatchObject({ isBehind: false });
  expect(await countIfUnchangedSince('2001')).toBe(0);
  expect(await countIfUnchangedSince('2000')).toBeUndefined();
  expect((await scannedRows()) - before).toBe(0);

  await database.transaction(({ query }) => query(`insert into feature_change (name, changed) values ('new', '2001')`));
  expect(await searchable('idle', [])).toMatchObject({ isBehind: true });
});
