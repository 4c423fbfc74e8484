import { openDatabase } from '@bunting/database';
import { freshDatabase } from '@bunting/testing';
import { expect, it } from 'vitest';
import { searchMigrations } from '../migrations/index.ts';
import { indexReplicationRepository } from './index-store.ts';

it('the changes for an index come in the order of their transactions, page by page, whatever the length of their numbers', async () => {
  const fresh = await freshDatabase('index-store');
  const database = await openDatabase({ url: fresh.url, name: 'spec', migrations: searchMigrations });
  try {
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
  } finally {
    await database.close();
    await fresh.drop();
  }
});
