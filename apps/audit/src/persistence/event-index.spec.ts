import type { RecordedEvent } from '@bunting/contracts';
import { openDatabase } from '@bunting/database';
import { freshDatabase } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { anEvent } from '../../test/builders.ts';
import { openLogDatabase, type OpenedLog } from '../../test/started-audit.ts';
import { dropPostings, eventTerms, indexNext } from './event-index.ts';
import { appendEvents } from './event-log.ts';
import type { Criteria } from './criteria.ts';
import { eventSearch } from './event-search.ts';
import { groupLength } from './postings.ts';
import { dropOldest } from './retention.ts';
import { logSteps } from './tables.ts';

let log: OpenedLog;
const events: RecordedEvent[] = Array.from({ length: 4_200 }, (_, nth) =>
  anEvent({
    type: nth % 3 === 0 ? 'feature-created' : 'feature-archived',
    createdAt: new Date(Date.UTC(2026, 0, 1) + nth * 1_000).toISOString(),
    createdBy: nth % 100 === 0 ? 'rare@example.com' : 'mia@example.com',
    project: nth % 7 === 0 ? null : `project-${nth % 5}`,
    featureName: `flag-${nth % 50}`,
    data: { title: `Title ${nth}`, ...(nth % 2 === 0 ? { even: 'feature-created' } : {}) },
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
      text: 'select digest from event_term group by digest having count(*) > 1',
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
      text: 'select seq from event_term_posting where seq % 2 = 0',
    });
    expect(left).toEqual([]);
  });
});

describe('A log that the version before has indexed', () => {
  it('is indexed anew, and found by what that version did not index', async () => {
    const fresh = await freshDatabase('audit-before');
    const before = logSteps.slice(0, logSteps.indexOf(eventTerms));
    const old = await openDatabase({ url: fresh.url, name: 'before', steps: before });
    await old.transaction(async ({ query }) => {
      await query(`insert into event_part (kind, digest, text) values (0, gen_random_uuid(), 'title')`);
      await query('update event_index_head set indexed_to = 2048');
    });
    await old.close();
    const database = await openDatabase({ url: fresh.url, name: 'after', steps: logSteps });
    const arriving = events.slice(0, 2_100).map((event) => ({ uid: randomUUID(), event }));
    await database.transaction((tx) => appendEvents(tx, arriving));
    expect(await database.transaction(indexNext)).toBe(2_048);
    const question = { creators: [1], text: 'title 1', visible: everything };
    const found = await eventSearch(database).find(question, { from: 9_999, limit: 1 }, new Date(Date.now() + 10_000));
    expect(found.total).toBe(arriving.filter((_, nth) => String(nth).startsWith('1')).length);
    const left = 'select (select count(*) from event_part) + indexed_to as left from event_index_head';
    expect(await database.read({ name: 'left', text: left })).toEqual([{ left: 0 }]);
    await database.close();
    await fresh.drop();
  });
});
