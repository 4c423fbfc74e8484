import type { Caller, EventType, OutboxEvent } from '@bunting/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { anEvent, lee, mia, callerWithHiddenProjects } from '../../../test/builders.ts';
import { naiveFind, type NumberedEvent, type NaiveQuery } from '../../../test/naive-search.ts';
import { openLogDatabase, type OpenedLog } from '../../../test/started-audit.ts';
import { eventVisibilityOf } from '../../domain/event-visibility.ts';
import { appendEvents, prepareEvent } from '../../log/append-store.ts';
import { type EventSearch, eventSearch } from '../../search/search-store.ts';
import { dropOldestExpiredBatch } from '../../log/retention-store.ts';
import { pendingTextIndexFlusher } from '../pending-text-index-flusher.ts';

const types: EventType[] = ['feature-created', 'feature-strategy-update', 'segment-created'];
const projects = ['shop', 'bank', 'post'];
const features = ['banner', 'cart', 'search'];
const environments = ['development', 'production'];
const days = ['2026-02-28', '2026-03-01', '2026-03-02', '2026-12-31'];
const moments = ['00:00:00.000Z', '12:30:00.000Z', '23:59:59.999Z', '23:30:00.000-02:00'];

const someEvent = fc
  .record({
    type: fc.constantFrom(...types),
    project: fc.constantFrom(null, ...projects),
    environment: fc.constantFrom(null, ...environments),
    featureName: fc.constantFrom(null, ...features),
    createdByUserId: fc.constantFrom(1, 2, -42),
    day: fc.constantFrom(...days),
    moment: fc.constantFrom(...moments),
    title: fc.constantFrom('Oslo', 'Bergen', 'production', '2026-03-01'),
  })
  .map(({ day, moment, title, ...said }): OutboxEvent => {
    return anEvent({
      ...said,
      createdAt: `${day}T${moment}`,
      createdBy: `user ${said.createdByUserId}`,
      data: { title },
    });
  });

const several = <T>(values: readonly T[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 });
const someQuestion: fc.Arbitrary<NaiveQuery> = fc.record(
  {
    types: several([...types, 'feature-archived']),
    projects: several([...projects, 'unknown']),
    features: several([...features, 'unknown']),
    environments: several([...environments, 'unknown']),
    creators: several([1, 2, -42, 7]),
    from: fc.constantFrom(...days, '0001-01-01', '9999-12-31'),
    to: fc.constantFrom(...days, '0001-01-01', '9999-12-31'),
    text: fc.constantFrom('', 'o', 'OSLO', 'user -', 'production', '2026', 'title', 'nowhere'),
    textIn: fc.constantFrom('anywhere' as const, 'data' as const),
    highest: fc.integer({ min: 1, max: 3_000 }),
    skip: fc.oneof(fc.nat({ max: 30 }), fc.nat({ max: 3_000 })),
    limit: fc.integer({ min: 1, max: 200 }),
  },
  { requiredKeys: [] },
);
const someCaller = fc.constantFrom<Caller>(
  mia,
  lee,
  callerWithHiddenProjects('shop'),
  callerWithHiddenProjects('bank', 'post', 'nowhere'),
  callerWithHiddenProjects('shop', 'bank', 'post'),
  { ...mia, hiddenProjects: ['shop'] },
);

let log: OpenedLog;
let cached: EventSearch;
let published: NumberedEvent[] = [];

const append = async (events: readonly OutboxEvent[]): Promise<void> => {
  const first = (published.at(-1)?.id ?? 0) + 1;
  const arriving = events.map((event) => prepareEvent(randomUUID(), event));
  await log.database.transaction((tx) => appendEvents(tx, arriving));
  published.push(...events.map((event, nth) => ({ id: first + nth, event })));
};
const midnight = (day: string | undefined, plusDays = 0) =>
  day === undefined ? undefined : new Date(Date.parse(`${day}T00:00:00.000Z`) + plusDays * 86_400_000);
const find = async (question: NaiveQuery, caller: Caller, by: EventSearch) => {
  const { from, to, highest = Number.MAX_SAFE_INTEGER, skip = 0, limit = 100, ...request } = question;
  const days = { notBefore: midnight(from), before: midnight(to, 1) };
  const { events, total } = await by.find(
    { ...request, ...days, visible: eventVisibilityOf(caller) },
    { from: highest, skip, limit },
    new Date(Date.now() + 10_000),
  );
  return { ids: events.map(({ event }) => event.id), totalEvents: total };
};
const answersAlike = (seed: number) =>
  fc.assert(
    fc.asyncProperty(
      fc.array(someEvent, { maxLength: 2 }),
      someQuestion,
      someCaller,
      async (more, question, caller) => {
        if (more.length > 0) await append(more);
        const expected = naiveFind(published, question, caller);
        expect(await find(question, caller, eventSearch(log.database))).toEqual(expected);
        expect(await find(question, caller, cached)).toEqual(expected);
      },
    ),
    { numRuns: 80, seed },
  );

beforeAll(async () => {
  log = await openLogDatabase();
  cached = eventSearch(log.database);
  await append(Array.from({ length: 200 }, (_, nth) => anEvent({ createdAt: '2020-01-01T00:00:00Z', data: { nth } })));
  await append(fc.sample(someEvent, { numRuns: 2_000, seed: 5 }));
});
afterAll(() => log.close());

describe('Every combination of event filters and callers returns what a naive search of a list returns', () => {
  it('while the texts of events wait in the pending list of their index', () => answersAlike(1));

  it('when they are merged into the index', async () => {
    await pendingTextIndexFlusher(log.database).merge();
    await answersAlike(2);
  });

  it('after old events were dropped', async () => {
    expect(await dropOldestExpiredBatch(log.database, new Date('2021-01-01'))).toBe(200);
    published = published.slice(200);
    await answersAlike(3);
  });

  it('after many events have arrived since totals were counted', async () => {
    await append(fc.sample(someEvent, { numRuns: 4_300, seed: 6 }));
    await answersAlike(4);
  });

  it('when few events matched, and then more than are cached', async () => {
    const few = { text: 'few' };
    const appendFew = (length: number) => append(Array.from({ length }, () => anEvent({ data: { title: 'few' } })));
    for (const length of [1, 3, 1_990, 10, 2_100, 5]) {
      await appendFew(length);
      expect(await find({ ...few, limit: 3, skip: 2 }, mia, cached)).toEqual(
        naiveFind(published, { ...few, limit: 3, skip: 2 }, mia),
      );
    }
  });

  it('when all matching events are far from the end of the log', async () => {
    await append(Array.from({ length: 2_100 }, (_, nth) => anEvent({ project: 'old', data: { nth, title: 'Oslo' } })));
    await append(fc.sample(someEvent, { numRuns: 3_000, seed: 7 }));
    for (const question of [{ projects: ['old'] }, { projects: ['old'], text: 'oslo', skip: 20, limit: 30 }])
      for (let time = 0; time < 2; time++)
        expect(await find(question, mia, cached)).toEqual(naiveFind(published, question, mia));
  });
});
