import type { RecordedEvent } from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { freshDatabase } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { anEvent } from '../../test/builders.ts';
import { openLogDatabase, type OpenedLog } from '../../test/started-audit.ts';
import { dropPostings, indexing, searchTerms } from './event-index.ts';
import { appendEvents } from './event-log.ts';
import type { Criteria } from './criteria.ts';
import { type EventSearch, eventSearch } from './event-search.ts';
import { groupLength } from './postings.ts';
import { dropOldest } from './retention.ts';
import { logSteps } from './tables.ts';
import { termsHolding, termsOfDays } from './terms.ts';

let log: OpenedLog;
const indexNext = indexing();
const events: RecordedEvent[] = Array.from({ length: 4_200 }, (_, nth) =>
  anEvent({
    type: nth % 3 === 0 ? 'feature-created' : 'feature-archived',
    createdAt: new Date(Date.UTC(2026, 0, 1) + nth * 1_000).toISOString(),
    createdBy: nth % 100 === 0 ? 'rare@example.com' : 'mia@example.com',
    project: nth % 7 === 0 ? null : `project-${nth % 5}`,
    featureName: `flag-${nth % 50}`,
    data: {
      title: `Title ${nth}`,
      note: `What 😀 every note begins with, and then ${nth} in the middle of it, to the very end 😀`,
      ...(nth % 2 === 0 ? { even: 'feature-created' } : {}),
    },
    tags: nth % 1_000 === 1 ? [{ type: 'team', value: 'Oslo' }] : [],
  }),
);

beforeAll(async () => {
  log = await openLogDatabase();
  for (let from = 0; from < events.length; from += 700) {
    const arriving = events.slice(from, from + 700).map((event) => ({ uid: randomUUID(), event }));
    await log.database.transaction((tx) => appendEvents(tx, arriving));
  }
});
afterAll(() => log.close());

const queries: Omit<Criteria, 'visible'>[] = [
  ...['rare@', 'mia', 'feature-', 'created', 'title', 'TITLE 41', 'even', 'team:o', 'e', '4', 'nowhere', '%', '_'],
  ...[
    'note',
    '😀',
    '😀 e',
    'e note begins',
    'begins with',
    'h, and then 41',
    'begins with, and then 41',
    'begins with, and then %',
    't',
    'ti',
    '00',
    'ü',
    ' ü',
    '1 ü',
    'feature-archive',
  ],
].flatMap((text) => [
  { text },
  { text, textIn: 'data' as const },
  { text, types: ['feature-created'] },
  { text, projects: ['project-1', 'project-2', 'nowhere'] },
  { text, features: ['flag-7'], textIn: 'data' as const },
  { text, creators: [1] },
]);
const everything: Criteria['visible'] = { ofNoProject: true, hiddenProjects: [] };
const visibilities: Criteria['visible'][] = [
  everything,
  { ofNoProject: false, hiddenProjects: [] },
  { ofNoProject: false, hiddenProjects: ['project-1', 'project-3'] },
];

/** What every query finds: its total, and a page from the middle. A search that remembers nothing is asked. */
const answers = async () => {
  const search = eventSearch(log.database);
  const found = [];
  for (const query of queries) {
    for (const visible of visibilities) {
      const page = { from: 3_000, limit: 5 };
      const { total, events: some } = await search.find({ ...query, visible }, page, new Date(Date.now() + 10_000));
      found.push({ query, visible, total, ids: some.map(({ event }) => event.id) });
    }
  }
  return found;
};

describe('The index of events', () => {
  it('finds what reading finds, whatever is asked, and however far it has come', async () => {
    const read = await answers();
    expect(read.filter(({ total }) => total > 0).length).toBeGreaterThan(100);
    expect(await log.database.transaction(indexNext)).toBe(2_048);
    expect(await answers()).toEqual(read);
    expect(await log.database.transaction(indexNext)).toBe(2_048);
    expect(await log.database.transaction(indexNext)).toBe(0);
    expect(await answers()).toEqual(read);
  });

  it('counts nothing of what was dropped', async () => {
    const total = async (text: string) =>
      (
        await eventSearch(log.database).find(
          { text, visible: everything },
          { from: 9_999, limit: 1 },
          new Date(Date.now() + 10_000),
        )
      ).total;
    expect(await total('title')).toBe(4_200);
    expect(await dropOldest(log.database, new Date(Date.UTC(2026, 0, 1) + 1_000_000))).toBe(1_000);
    expect(await total('title')).toBe(3_200);
    expect(await total('rare@')).toBe(32);
    expect(await log.database.transaction(dropPostings)).toBe(0);
    expect(await dropOldest(log.database, new Date(Date.UTC(2026, 0, 1) + 3_000_000))).toBe(2_000);
    expect(await log.database.transaction(dropPostings)).toBe(0);
    expect(await total('title')).toBe(1_200);
    expect(await total('rare@')).toBe(12);
  });

  it('has everything once, however many index at the same time', async () => {
    const more = events.slice(0, 4_000).map((event) => ({ uid: randomUUID(), event }));
    for (let from = 0; from < more.length; from += 1_000) {
      await log.database.transaction((tx) => appendEvents(tx, more.slice(from, from + 1_000)));
    }
    await Promise.all([1, 2, 3, 4].map(() => log.database.transaction(indexNext)));
    const twice = await log.database.read({
      name: 'twice',
      text: 'select digest from search_term group by digest having count(*) > 1',
    });
    expect(twice).toEqual([]);
    const { total } = await eventSearch(log.database).find(
      { text: 'title', visible: everything },
      { from: 9_999, limit: 1 },
      new Date(Date.now() + 10_000),
    );
    expect(total).toBe(5_200);
  });

  it('forgets what it has of a stretch of the log when all of that was dropped', async () => {
    await log.database.transaction(({ query }) => query(`update event_log_head set dropped_id = ${groupLength - 1}`));
    expect(await log.database.transaction(dropPostings)).toBeGreaterThan(10);
    expect(await log.database.transaction(dropPostings)).toBe(0);
    const left = await log.database.read<{ seq: number }>({
      name: 'left',
      text: 'select seq from search_posting where seq % 2 = 0',
    });
    expect(left).toEqual([]);
  });
});

describe('What is remembered of the index', () => {
  const total = async (search: EventSearch, criteria: Omit<Criteria, 'visible'>) => {
    const deadline = new Date(Date.now() + 10_000);
    return (await search.find({ ...criteria, visible: everything }, { from: 9_999, limit: 1 }, deadline)).total;
  };

  it('is each condition by itself: what else is asked together with it does not ask the index for it again', async () => {
    const fresh = await openLogDatabase();
    const arriving = events.slice(0, 2_200).map((event) => ({ uid: randomUUID(), event }));
    await fresh.database.transaction((tx) => appendEvents(tx, arriving));
    await fresh.database.transaction(indexing());
    const asked = ['feature-created', 'feature-archived'].map((type) => ({ text: 'title', types: [type] }));
    const search = eventSearch(fresh.database, { leastRemembered: 0 });
    const expected = await Promise.all(asked.map((criteria) => total(eventSearch(fresh.database), criteria)));
    expect(await total(search, { text: 'title' })).toBe(2_200);
    // Who asks the index for this text finds it nowhere but in what is not indexed.
    await fresh.database.transaction(({ query }) =>
      query(`delete from search_posting where term in (select id from search_term where text like '%title%')`),
    );
    expect(await Promise.all(asked.map((criteria) => total(search, criteria)))).toEqual(expected);
    expect(await total(eventSearch(fresh.database), { text: 'title' })).toBe(2_200 - 2_047);
    await fresh.close();
  });

  it('is asked for anew when much was indexed since, and when the log is another one', async () => {
    const fresh = await openLogDatabase();
    const indexNext = indexing();
    const search = eventSearch(fresh.database, { leastRemembered: 0 });
    const append = (from: number, to: number) => {
      const arriving = events.slice(from, to).map((event) => ({ uid: randomUUID(), event }));
      return fresh.database.transaction((tx) => appendEvents(tx, arriving));
    };
    const created = { text: 'title', types: ['feature-created'] };
    await append(0, 2_100);
    await fresh.database.transaction(indexNext);
    expect(await total(search, { text: 'title' })).toBe(2_100);
    expect(await total(search, created)).toBe(700);
    await append(2_100, 4_200);
    await append(0, 2_100);
    while ((await fresh.database.transaction(indexNext)) > 0);
    expect(await total(search, { text: 'title', types: ['feature-archived'] })).toBe(4_200);
    expect(await total(search, { text: 'title' })).toBe(6_300);
    await fresh.database.transaction(async ({ query }) => {
      await query('truncate search_posting, search_term');
      await query('update search_head set indexed_to = 0, stamp = gen_random_uuid()');
      await query('delete from event where id > 2000');
      await query('delete from event_search where id > 2000');
      await query(`update event_log_head set id = 2000, events = 2000, sealed_id = 2000, uid = (select uid from event where id = 2000),
        sealed_hash = (select hash from event where id = 2000)`);
    });
    await append(0, 2_100);
    await fresh.database.transaction(indexNext);
    expect(await total(search, { text: 'title', projects: ['project-1'] })).toBe(
      await total(eventSearch(fresh.database), { text: 'title', projects: ['project-1'] }),
    );
    await fresh.close();
  });
});

describe('A text that thousands of texts hold', () => {
  it('is found by few terms, where it is in what they begin with or has one letter or two', async () => {
    const fresh = await openLogDatabase();
    const arriving = events.slice(0, 2_100).map((event) => ({ uid: randomUUID(), event }));
    await fresh.database.transaction((tx) => appendEvents(tx, arriving));
    await fresh.database.transaction(indexing());
    const terms = async (text: string) => {
      const asked = termsHolding(text, 'anywhere');
      let nth = 0;
      const [where, values] =
        'digests' in asked
          ? ['digest = any($1)', [asked.digests]]
          : [asked.condition.replaceAll('?', () => `$${++nth}`), asked.values];
      return fresh.database.transaction(({ query }) => query(`select id from search_term where ${where}`, values));
    };
    expect(await terms('note')).toHaveLength(2);
    expect(await terms('every n')).toHaveLength(1);
    expect(await terms('note begins')).toHaveLength(1);
    expect(await terms('it')).toHaveLength(1);
    expect(await terms('e')).toHaveLength(2);
    // The price: what only the rest of them has is found in each of them.
    expect((await terms('and then')).length).toBe(2_047);
    await fresh.close();
  });
});

describe('Days', () => {
  it('are found by the months that they make, and by no more days than those of two', async () => {
    const fresh = await openLogDatabase();
    const everyDay = Array.from({ length: 2_100 }, (_, nth) =>
      anEvent({ createdAt: new Date(Date.UTC(2024, 0, 1, 12) + Math.floor(nth / 2) * 86_400_000).toISOString() }),
    );
    await fresh.database.transaction((tx) =>
      appendEvents(
        tx,
        everyDay.map((event) => ({ uid: randomUUID(), event })),
      ),
    );
    await fresh.database.transaction(indexing());
    const days = everyDay.map(({ createdAt }) => createdAt.slice(0, 10));
    const edges = ['2023-12-31', '2024-01-01', '2024-02-29', '2024-03-01', '2024-03-02', '2024-12-31', '2026-01-15'];
    for (const [at, first] of edges.entries()) {
      for (const last of edges.slice(at)) {
        const before = new Date(Date.parse(last) + 86_400_000);
        const criteria = { notBefore: new Date(first), before, visible: everything };
        const page = { from: 9_999, limit: 1 };
        const { total } = await eventSearch(fresh.database).find(criteria, page, new Date(Date.now() + 10_000));
        expect([first, last, total]).toEqual([first, last, days.filter((day) => first <= day && day <= last).length]);
      }
    }
    expect(termsOfDays('2024-03-01', '2024-02-29')).toEqual({ digests: [] });
    const asked = termsOfDays('2024-01-15', '2026-03-15');
    if (!('condition' in asked)) throw new Error('Days are asked for by a condition.');
    let nth = 0;
    const where = asked.condition.replaceAll('?', () => `$${++nth}`);
    const terms = await fresh.database.transaction(({ query }) =>
      query(`select id from search_term where ${where}`, asked.values),
    );
    expect(terms.length).toBeLessThan(17 + 31 + 26);
    await fresh.close();
  });
});

describe('Whoever indexes', () => {
  const count = (database: Database, table: string) =>
    database.transaction(async ({ query }) =>
      Number((await query<{ of: string }>(`select count(*) as of from ${table}`))[0]?.of),
    );
  const postings = `(select digest, seq, data from search_posting join search_term on id = term)`;

  it('takes no term for known that others dropped, or that was not committed', async () => {
    const [fresh, other] = await Promise.all([openLogDatabase(), openLogDatabase()]);
    for (const { database } of [fresh, other]) {
      const arriving = events.slice(0, 4_150).map((event) => ({ uid: randomUUID(), event }));
      await database.transaction((tx) => appendEvents(tx, arriving));
    }
    const remembering = indexing();
    const broken = fresh.database.transaction(async (tx) => {
      expect(await remembering(tx)).toBe(2_048);
      throw new Error('not committed');
    });
    await expect(broken).rejects.toThrow('not committed');
    expect(await count(fresh.database, 'search_term')).toBe(0);
    expect(await fresh.database.transaction(remembering)).toBe(2_048);
    expect(await other.database.transaction(indexing())).toBe(2_048);
    for (const { database } of [fresh, other]) {
      await database.transaction(async ({ query }) => {
        await query('truncate search_posting, search_term');
        await query('update search_head set stamp = gen_random_uuid()');
      });
    }
    expect(await fresh.database.transaction(remembering)).toBe(2_048);
    expect(await other.database.transaction(indexing())).toBe(2_048);
    const read = async ({ database }: OpenedLog) =>
      database.read({ name: 'postings', text: `select * from ${postings} as posting order by digest, seq` });
    expect(await read(fresh)).toEqual(await read(other));
    expect((await read(fresh)).length).toBeGreaterThan(4_000);
    await Promise.all([fresh.close(), other.close()]);
  });

  it('asks for the ids of terms once, and not again in each block', async () => {
    const fresh = await openLogDatabase();
    const asked: number[] = [];
    const arriving = events.slice(0, 2_048).map((event) => ({ uid: randomUUID(), event }));
    await fresh.database.transaction((tx) => appendEvents(tx, arriving));
    await fresh.database.transaction((tx) =>
      appendEvents(
        tx,
        arriving.map(({ event }) => ({ uid: randomUUID(), event })),
      ),
    );
    const indexNext = indexing();
    for (let block = 0; block < 2; block++) {
      await fresh.database.transaction((tx) =>
        indexNext({
          ...tx,
          query: (text, values = []) => {
            if (text.includes('insert into search_term')) asked.push((values[0] as unknown[]).length);
            return tx.query(text, values);
          },
        }),
      );
    }
    expect(asked[0]).toBeGreaterThan(4_000);
    expect(asked[1]).toBeLessThan(10);
    await fresh.close();
  });
});

describe('A log that the version before has indexed', () => {
  it('is indexed anew, and found by what that version did not index', async () => {
    const fresh = await freshDatabase('audit-before');
    const before = logSteps.slice(0, logSteps.indexOf(searchTerms));
    const old = await openDatabase({ url: fresh.url, name: 'before', steps: before });
    await old.transaction(async ({ query }) => {
      await query(`insert into event_term (kind, digest, text) values (0, gen_random_uuid(), 'title')`);
      await query('update event_term_head set indexed_to = 2048');
    });
    await old.close();
    const database = await openDatabase({ url: fresh.url, name: 'after', steps: logSteps });
    const arriving = events.slice(0, 2_100).map((event) => ({ uid: randomUUID(), event }));
    await database.transaction((tx) => appendEvents(tx, arriving));
    expect(await database.transaction(indexNext)).toBe(2_048);
    const question = { creators: [1], text: 'title 1', visible: everything };
    const found = await eventSearch(database).find(question, { from: 9_999, limit: 1 }, new Date(Date.now() + 10_000));
    expect(found.total).toBe(arriving.filter((_, nth) => String(nth).startsWith('1')).length);
    const left = 'select (select count(*) from event_term) + indexed_to as left from event_term_head';
    expect(await database.read({ name: 'left', text: left })).toEqual([{ left: 0 }]);
    await database.close();
    await fresh.drop();
  });
});
