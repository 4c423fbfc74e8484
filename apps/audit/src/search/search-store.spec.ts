import { randomUUID } from 'node:crypto';
import type { Caller, EventType, OutboxEvent } from '@bunting/contracts';
import type { Database, Statement } from '@bunting/database';
import { eventually, rowsReadBy } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { anEvent, callerWithHiddenProjects, lee, mia } from '../../test/builders.ts';
import {
  type NaiveCriteria,
  naiveFind,
  type NaiveQuery,
  naiveSearch,
  type NumberedEvent,
} from '../../test/naive-search.ts';
import { type OpenedLog, openLogDatabase } from '../../test/started-audit.ts';
import { appendEvents, prepareEvent } from '../log/append-store.ts';
import { dropOldestExpiredBatch } from '../log/retention-store.ts';
import { eventVisibilityOf } from './event-filters.ts';
import { type EventSearch, eventSearch } from './search-store.ts';

describe('texts', () => {
  const types: EventType[] = ['feature-created', 'feature-strategy-update', 'segment-created', 'feature-tagged'];
  const projects = ['shop', 'bank', 'Shop'];
  const words = ['Oslo', 'oslo 50%', 'a_b', 'axb', '\\', '"', '50', 'x', 'ünïcode', '😀', 'long-winded', 'true'];

  const someEvent = fc
    .record({
      type: fc.constantFrom(...types),
      project: fc.constantFrom(null, ...projects),
      featureName: fc.constantFrom(null, 'banner', 'banner-2', 'Banner'),
      createdBy: fc.constantFrom('mia@example.com', 'lee', 'Kim'),
      data: fc.option(
        fc.dictionary(
          fc.constantFrom('title', 'segments', 'a_b'),
          fc.constantFrom<unknown>(...words, 50, true, ['x', { y: 'Oslo' }]),
        ),
      ),
      preData: fc.option(fc.dictionary(fc.constantFrom('title', 'rollout'), fc.constantFrom(...words))),
      tags: fc.array(fc.constantFrom({ type: 'simple', value: 'nordic' }, { type: 'team', value: 'Oslo' }), {
        maxLength: 2,
      }),
    })
    .map((said): OutboxEvent => anEvent(said));

  const someSearch = fc.record(
    {
      type: fc.constantFrom(...types),
      project: fc.constantFrom(...projects, 'unknown'),
      feature: fc.constantFrom('banner', 'Banner', 'unknown'),
      query: fc.oneof(
        fc.constantFrom(
          '',
          ...words,
          '%',
          '_',
          'SEGMENTS',
          'feature-',
          'mia@',
          'simple:n',
          '50%',
          '\\_',
          'e',
          'nowhere',
        ),
        fc.string({ minLength: 1, maxLength: 3 }),
      ),
      limit: fc.integer({ min: 1, max: 100 }),
      offset: fc.integer({ min: 0, max: 2_400 }),
    },
    { requiredKeys: [] },
  );

  const someCaller = fc.constantFrom<Caller>(
    mia,
    lee,
    callerWithHiddenProjects('shop'),
    callerWithHiddenProjects('shop', 'bank'),
    callerWithHiddenProjects('nowhere'),
  );

  let log: OpenedLog;
  let search: EventSearch;
  const published: NumberedEvent[] = [];

  const append = async (events: readonly OutboxEvent[]): Promise<void> => {
    await log.database.transaction((tx) =>
      appendEvents(
        tx,
        events.map((event) => prepareEvent(randomUUID(), event)),
      ),
    );
    for (const event of events) published.push({ id: published.length + 1, event });
  };

  const listed = (value: string | undefined) => (value === undefined ? undefined : [value]);
  const find = async (body: NaiveCriteria, caller: Caller = mia, by: EventSearch = search) => {
    const { type, project, feature, query, limit = 100, offset = 0 } = body;
    const { events, total } = await by.find(
      {
        types: listed(type),
        projects: listed(project),
        features: listed(feature),
        text: query,
        visible: eventVisibilityOf(caller),
      },
      { from: offset === 0 ? Number.MAX_SAFE_INTEGER : offset, limit },
      new Date(Date.now() + 10_000),
    );
    return { ids: events.map(({ id }) => id), totalEvents: total };
  };

  beforeAll(async () => {
    log = await openLogDatabase();
    search = eventSearch(log.database);
  });
  afterAll(() => log.close());

  describe('The search of the log', () => {
    it('finds nothing in an empty log with any filter', async () => {
      const nothing = { ids: [], totalEvents: 0 };
      const empty = await openLogDatabase();
      const by = eventSearch(empty.database);
      expect(await find({}, mia, by)).toEqual(nothing);
      expect(await find({ query: 'oslo' }, mia, by)).toEqual(nothing);
      expect(await find({ query: 'o', type: 'feature-created' }, lee, by)).toEqual(nothing);
      expect(await find({ feature: 'banner' }, callerWithHiddenProjects('shop', 'bank'), by)).toEqual(nothing);
      await empty.close();
    });

    it('returns what a naive search of a list returns for every query and caller while the log grows', async () => {
      await append(fc.sample(someEvent, { numRuns: 2_300, seed: 7 }));
      await fc.assert(
        fc.asyncProperty(fc.array(someEvent, { maxLength: 3 }), someSearch, someCaller, async (more, body, caller) => {
          if (more.length > 0) await append(more);
          expect(await find(body, caller)).toEqual(naiveSearch(published, body, caller));
        }),
        { numRuns: 60, seed: 11 },
      );
    });

    it('returns the same with an empty cache of totals', async () => {
      await fc.assert(
        fc.asyncProperty(someSearch, someCaller, async (body, caller) => {
          const expected = naiveSearch(published, body, caller);
          expect(await find(body, caller, eventSearch(log.database))).toEqual(expected);
        }),
        { numRuns: 40, seed: 13 },
      );
    });

    it('returns the same to concurrent identical searches', async () => {
      const fresh = eventSearch(log.database);
      const expected = naiveSearch(published, { query: 'OSLO' }, mia);
      const answers = await Promise.all(Array.from({ length: 20 }, () => find({ query: 'Oslo' }, mia, fresh)));
      expect(answers).toEqual(Array.from({ length: 20 }, () => expected));
    });

    it('derives page and total from the same events while other processes append', async () => {
      let appending = true;
      const appended = (async () => {
        for (let nth = 0; nth < 60; nth++) await append([anEvent({ project: 'race', data: { title: 'racing' } })]);
        appending = false;
      })();
      let least = 0;
      while (appending) {
        for (const body of [{ project: 'race' }, { project: 'race', query: 'racing' }]) {
          const { ids, totalEvents } = await find(body);
          expect(ids).toHaveLength(totalEvents);
          expect(totalEvents).toBeGreaterThanOrEqual(least);
          least = totalEvents;
        }
      }
      await appended;
      expect((await find({ project: 'race', query: 'racing' })).totalEvents).toBe(60);
    });

    it('discards cached matches when a backup of the log was restored', async () => {
      const count = async () => (await find({ query: 'restored' })).totalEvents;
      await append(Array.from({ length: 5 }, () => anEvent({ data: { title: 'restored' } })));
      expect(await count()).toBe(5);
      const backup = published.length - 2;
      await log.database.transaction(async ({ query }) => {
        await query('delete from event where id > $1', [backup]);
        await query('delete from event_search where id > $1', [backup]);
        await query('delete from event_text where event > $1', [backup]);
        await query('update event_log_head set id = $1, events = $1, uid = (select uid from event where id = $1)', [
          backup,
        ]);
      });
      expect(await count()).toBe(3);
      published.splice(backup);
      await append(Array.from({ length: 4 }, () => anEvent({ data: { title: 'restored' } })));
      expect(await count()).toBe(7);
    });

    it('returns the events of a restored log, and not those that had their ids before', async () => {
      const titles = async (project: string) => {
        const page = { from: Number.MAX_SAFE_INTEGER, limit: 100 };
        const criteria = { projects: [project], visible: eventVisibilityOf(mia) };
        const { events } = await search.find(criteria, page, new Date(Date.now() + 10_000));
        return events.map((found) => found.parse().data?.['title']);
      };
      await append([anEvent({ project: 'kept', data: { title: 'kept' } })]);
      const backup = published.length;
      expect(await titles('kept')).toEqual(['kept']);
      await append([anEvent({ project: 'lost', data: { title: 'one' } }), anEvent({ project: 'lost', data: null })]);
      expect(await titles('lost')).toEqual([undefined, 'one']);
      await log.database.transaction(async ({ query }) => {
        for (const [table, id] of [
          ['event', 'id'],
          ['event_search', 'id'],
          ['event_text', 'event'],
        ])
          await query(`delete from ${table} where ${id} > $1`, [backup]);
        await query('update event_log_head set id = $1, events = $1, uid = (select uid from event where id = $1)', [
          backup,
        ]);
      });
      published.splice(backup);
      await append([
        anEvent({ project: 'kept', data: { title: 'two' } }),
        anEvent({ project: 'kept', data: { title: 'three' } }),
      ]);
      expect(await titles('kept')).toEqual(['three', 'two', 'kept']);
    });

    it('reads a page whose events it has read before in one statement, and with new ones in two', async () => {
      const statementsOf = async (body: NaiveCriteria) => {
        const before = log.database.statements;
        expect(await find(body)).toEqual(naiveSearch(published, body, mia));
        return log.database.statements - before;
      };
      for (const body of [{}, { feature: 'banner' }, { project: 'bank', query: 'oslo' }]) {
        await statementsOf(body);
        expect(await statementsOf(body)).toBe(1);
        await append([anEvent({ project: 'bank', featureName: 'banner', data: { title: 'Oslo' } })]);
        expect(await statementsOf(body)).toBe(2);
      }
    });

    it('finds a text that thousands of different texts contain, and one that hundreds do', async () => {
      const varied = (nth: number) =>
        anEvent({ data: { title: `varied ${nth % 97 === 0 ? 'rarely' : 'often'} ${nth}` } });
      await append(Array.from({ length: 6_000 }, (_, nth) => varied(nth)));
      await append(Array.from({ length: 3_000 }, (_, nth) => anEvent({ data: { title: `seldom ${nth % 400}` } })));
      for (const query of ['varied', 'often 5', 'rarely', 'seldom', 'e'])
        for (const offset of [0, published.length - 8_000]) {
          expect(await find({ query, offset }, mia), query).toEqual(naiveSearch(published, { query, offset }, mia));
          await append([varied(1_000_000), anEvent({ data: { title: 'seldom 7' } })]);
          expect(await find({ query, offset }, mia), query).toEqual(naiveSearch(published, { query, offset }, mia));
        }
    });

    it('returns an empty page behind the last match without a search for it, and counts the matches', async () => {
      await append(Array.from({ length: 3 }, () => anEvent({ data: { title: 'far' } })));
      const criteria = { text: 'far', visible: eventVisibilityOf(mia) };
      const page = { from: Number.MAX_SAFE_INTEGER, limit: 100, skip: 1_000_000_000 };
      const deadline = new Date(Date.now() + 10_000);
      expect(await search.find(criteria, page, deadline)).toEqual({ events: [], total: 3 });
      expect(await search.find(criteria, { ...page, skip: 3 }, deadline)).toEqual({ events: [], total: 3 });
      await append([anEvent({ data: { title: 'far' } })]);
      expect(await search.find(criteria, { ...page, skip: 3 }, deadline)).toMatchObject({
        events: [expect.anything()],
        total: 4,
      });
    });

    it('reads the texts of at most two searches concurrently, for their pages, too', async () => {
      let [running, most] = [0, 0];
      const reading = {
        read: async () => {
          running++;
          most = Math.max(most, running);
          await new Promise((resolve) => setImmediate(resolve));
          running--;
          return [
            {
              id: null,
              texts: 9,
              found: [],
              events: 1_000_000,
              ids: null,
              upTo: 9,
              uid: null,
              droppedId: 0,
              later: 0,
              continues: true,
              hasNewest: true,
              pageIds: [],
            },
          ];
        },
      } as unknown as Database;
      const busy = eventSearch(reading);
      const deadline = new Date(Date.now() + 10_000);
      const searches = Array.from({ length: 8 }, (_, nth) =>
        busy.find({ text: `many ${nth}`, visible: eventVisibilityOf(mia) }, { from: 9, limit: 1 }, deadline),
      );
      await Promise.all(searches);
      expect(most).toBe(2);
    });

    it('is not refused because an identical search of another caller had to end earlier', async () => {
      const waiting: (() => void)[] = [];
      const slow = {
        read: (statement: Statement, values: readonly unknown[]) =>
          JSON.stringify(values).includes('blocking')
            ? new Promise((_, reject) => waiting.push(() => reject(new Error('ended'))))
            : log.database.read(statement, values),
      } as unknown as Database;
      const busy = eventSearch(slow);
      const page = { from: Number.MAX_SAFE_INTEGER, limit: 1 };
      const find = (text: string, deadline: number) =>
        busy.find({ text, visible: eventVisibilityOf(mia) }, page, new Date(deadline));
      const blocking = Promise.allSettled(['blocking 1', 'blocking 2'].map((text) => find(text, Date.now() + 60_000)));
      await eventually(() => expect(waiting).toHaveLength(2));
      const soon = expect(find('shared', Date.now() - 1)).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
      const later = expect(find('shared', Date.now() + 60_000)).resolves.toMatchObject({ total: 0 });
      for (const end of waiting) end();
      await Promise.all([soon, later]);
      await blocking;
    });

    it('fails before the deadline of the caller under load', async () => {
      const busy = eventSearch(log.database);
      const late = busy.find(
        { text: 'late', visible: eventVisibilityOf(mia) },
        { from: 1, limit: 1 },
        new Date(Date.now() - 1),
      );
      await expect(late).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
    });
  });
});

describe('filters', () => {
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

  const several = <T>(values: readonly T[]) =>
    fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 });
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
    return { ids: events.map(({ id }) => id), totalEvents: total };
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
    await append(
      Array.from({ length: 200 }, (_, nth) => anEvent({ createdAt: '2020-01-01T00:00:00Z', data: { nth } })),
    );
    await append(fc.sample(someEvent, { numRuns: 2_000, seed: 5 }));
  });
  afterAll(() => log.close());

  describe('Every combination of event filters and callers returns what a naive search of a list returns', () => {
    it('while their texts wait in the pending list of the index', () => answersAlike(1));

    it('when the texts are merged into the index', async () => {
      await log.database.transaction(({ query }) =>
        query("select gin_clean_pending_list(relid) from pg_partition_tree('event_text_by_text') where isleaf"),
      );
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
      await append(
        Array.from({ length: 2_100 }, (_, nth) => anEvent({ project: 'old', data: { nth, title: 'Oslo' } })),
      );
      await append(fc.sample(someEvent, { numRuns: 3_000, seed: 7 }));
      for (const question of [{ projects: ['old'] }, { projects: ['old'], text: 'oslo', skip: 20, limit: 30 }])
        for (let time = 0; time < 2; time++)
          expect(await find(question, mia, cached)).toEqual(naiveFind(published, question, mia));
    });

    it('and the first page of many events, however old, is read again without looking for it', async () => {
      const sent: { text: string; values: readonly unknown[] }[] = [];
      const recording = eventSearch({
        read: (statement, values = []) => {
          sent.push({ text: statement.text, values });
          return log.database.read(statement, values);
        },
      });
      const question = { projects: ['old'], limit: 50 };
      const rowsRead = async () => {
        sent.length = 0;
        expect(await find(question, mia, recording)).toEqual(naiveFind(published, question, mia));
        const { text, values } = sent.find((one) => one.text.includes('"pageIds"')) as (typeof sent)[number];
        return rowsReadBy(log.url, text, values);
      };
      expect(await rowsRead()).toBeGreaterThan(1_000);
      expect(await rowsRead()).toBeLessThan(10);
      await append([anEvent({ project: 'old', data: { title: 'new' } }), anEvent({ project: 'shop', data: null })]);
      expect(await rowsRead()).toBeLessThan(10);
      await append(Array.from({ length: 2_100 }, (_, nth) => anEvent({ project: 'old', data: { nth } })));
      for (const limit of [50, 60, 50, 10])
        expect(await find({ ...question, limit }, mia, recording)).toEqual(
          naiveFind(published, { ...question, limit }, mia),
        );
    });
  });
});
