import { randomUUID } from 'node:crypto';
import type { OutboxEvent } from '@bunting/contracts';
import { openLog } from '@bunting/runtime';
import { beforeEach, describe, expect, it } from 'vitest';
import { anEvent, mia } from '../../test/builders.ts';
import { naiveSearch } from '../../test/naive-search.ts';
import { openedLog, storeTextsAsBefore } from '../../test/started-audit.ts';
import { eventVisibilityOf } from '../search/event-filters.ts';
import { eventSearch } from '../search/search-store.ts';
import { appendEvents, prepareEvent } from './append-store.ts';
import { logSize } from './retention-store.ts';
import { textIndexing } from './background.ts';
import { indexOldestUnindexed } from './unindexed-store.ts';

const log = openedLog();
const published: OutboxEvent[] = [];

/** Appends events as the version before did, or as this one does. */
async function append(version: 'before' | 'this', ...events: readonly OutboxEvent[]): Promise<void> {
  const first = published.length + 1;
  published.push(...events);
  await log.database.transaction((tx) =>
    appendEvents(
      tx,
      events.map((event) => prepareEvent(randomUUID(), event)),
    ),
  );
  if (version === 'before') await storeTextsAsBefore(log.database, first);
}

const queries = [
  'oslo',
  'MIA@',
  'title',
  'nordic',
  'nth',
  '1001',
  'created',
  'o',
  'nowhere',
  'simple:n',
  'mia@example.com',
];

/** Every search finds what a search of a list finds. `cached` are searches that have found something before. */
async function expectExact(cached: ReturnType<typeof eventSearch>): Promise<void> {
  const numbered = published.map((event, nth) => ({ id: nth + 1, event }));
  for (const query of queries)
    for (const search of [cached, eventSearch(log.database)]) {
      const page = { from: Number.MAX_SAFE_INTEGER, limit: 100 };
      const criteria = { text: query, visible: eventVisibilityOf(mia) };
      const { events, total } = await search.find(criteria, page, new Date(Date.now() + 10_000));
      const expected = naiveSearch(numbered, { query }, mia);
      expect({ ids: events.map(({ id }) => id), totalEvents: total }, query).toEqual(expected);
    }
}
function events(count: number): OutboxEvent[] {
  return Array.from({ length: count }, (_, nth) =>
    anEvent({
      createdBy: nth % 7 === 0 ? 'lee' : 'mia@example.com',
      data: { title: nth % 3 === 0 ? 'Half of Oslo' : 'Bergen', nth },
      preData: nth % 2 === 0 ? { title: 'Bergen', nth: nth - 1 } : null,
      tags: nth % 5 === 0 ? [{ type: 'simple', value: 'nordic' }] : [],
    }),
  );
}
async function count(sql: string): Promise<number> {
  const [row] = await log.database.read<{ count: number }>({ text: `select count(*) from ${sql}` });
  return row?.count ?? 0;
}

describe('Searches by text in a log of the version before', () => {
  beforeEach(async () => {
    published.splice(0);
    await log.database.transaction(async ({ query }) => {
      await query('truncate event, event_search, event_text');
      await query('update event_log_head set id = 0, uid = null, events = 0, texts = 0');
    });
  });

  it('index events with large texts a few at a time', async () => {
    const large = (nth: number) => anEvent({ data: { title: 'oslo', text: `${nth} ${'x'.repeat(1_500_000)}` } });
    await append('before', ...Array.from({ length: 7 }, (_, nth) => large(nth)));
    const batches = [];
    for (let indexed = 1; indexed > 0;) batches.push((indexed = await indexOldestUnindexed(log.database)));
    expect(batches).toEqual([3, 3, 1, 0]);
    await expectExact(eventSearch(log.database));
  });

  it('find every event before, while and after its texts are indexed batch by batch, and those that both versions append meanwhile', async () => {
    const cached = eventSearch(log.database);
    await append('before', ...events(2_300));
    await expectExact(cached);
    expect(await indexOldestUnindexed(log.database)).toBe(1_000);
    await expectExact(cached);
    await append('this', ...events(20));
    await append('before', ...events(20));
    await expectExact(cached);
    for (const expected of [1_000, 320, 0]) expect(await indexOldestUnindexed(log.database)).toBe(expected);
    await expectExact(cached);
    await append('before', ...events(5));
    await expectExact(cached);
    expect(await indexOldestUnindexed(log.database)).toBe(5);
    await expectExact(cached);
  });

  it('are indexed with each distinct text once', async () => {
    await append('this', ...events(300));
    await append('before', ...events(300));
    const texts = await count('event_text');
    while ((await indexOldestUnindexed(log.database)) > 0);
    expect(await count('event_text')).toBe(texts);
    expect(await count('(select distinct part, text from event_text) as texts')).toBe(texts);
  });

  it('are indexed once when several processes do it, and from where the one before was killed', async () => {
    await append('before', ...events(1_500));
    const killed = log.database.transaction(async (tx) => {
      await indexOldestUnindexed({ ...log.database, transaction: (job) => job(tx) });
      throw new Error('killed');
    });
    await expect(killed).rejects.toThrow('killed');
    expect(await logSize(log.database)).toMatchObject({ events: 1_500, unindexed: 1_500 });
    const done = await Promise.all([1, 2, 3].map(() => indexOldestUnindexed(log.database)));
    expect(done.toSorted((one, other) => one - other)).toEqual([0, 500, 1_000]);
    await expectExact(eventSearch(log.database));
  });

  it('cost nothing more when all are indexed: the index of the version before is dropped, and the log says how far it is', async () => {
    await append('before', ...events(1_200));
    const lines: string[] = [];
    const step = textIndexing(log.database, openLog('info', { write: (line) => void lines.push(line) }));
    while ((await step(new Date())) > 0);
    const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages).toEqual([
      'Indexing the texts of 200 events of the version before, 200 are left. Searches find all of them, and take longer until then.',
      'The texts of 200 events of the version before are indexed.',
    ]);
    expect(await count(`pg_class where relname = 'event_search_by_text'`)).toBe(0);
    await append('before', ...events(3));
    await expectExact(eventSearch(log.database));
  });
});
