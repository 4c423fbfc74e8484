import {
  FeedEvents,
  ListEventCreators,
  ListNewestEvents,
  ListNewestEventsOfFeature,
  type OutboxEvent,
  SearchEvents,
} from '@bunting/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { anEvent, callerWithHiddenProjects, lee, mia } from '../../test/builders.ts';
import { type EventProducer, startAudit, type StartedAudit, startEventProducer } from '../../test/started-audit.ts';

describe('searching', () => {
  let audit: StartedAudit;
  let features: EventProducer;

  const someEvent = fc.record({
    type: fc.constantFrom('feature-created' as const, 'feature-archived' as const, 'feature-tagged' as const),
    project: fc.constantFrom('shop', 'bank', 'Shop', null),
    featureName: fc.constantFrom('banner', 'cart', null),
    environment: fc.constantFrom('production', 'development', null),
    createdByUserId: fc.constantFrom(1, 2, -42),
    createdAt: fc.constantFrom('2026-01-31T23:59:59.999Z', '2026-02-01T00:00:00.000Z', '2026-02-02T12:00:00.000Z'),
    data: fc.constantFrom(null, { title: 'Half of Oslo' }, { title: 'feature-created' }, { note: '100%' }),
    tags: fc.constantFrom<OutboxEvent['tags']>([], [{ type: 'team', value: 'Oslo' }]),
    groupId: fc.constantFrom(null, '7', '9b2d7c1e-0000-4000-8000-000000000001'),
  });
  const published: OutboxEvent[] = fc.sample(someEvent, { numRuns: 250, seed: 3 }).map((said) => anEvent(said));

  beforeAll(async () => {
    audit = await startAudit();
    features = await startEventProducer(audit.bus);
    await features.publish(...published);
  });
  afterAll(async () => {
    await features.stop();
    await audit.stop();
  });

  const find = (query: Record<string, string>, caller = mia) => audit.call(SearchEvents, { query }, caller);

  /** The ids of the events that match the filters, the newest first, said in the plainest way. */
  const expected = ({
    query = '',
    from = 'IS:0000',
    to = 'IS:9999',
    timeZone = 'UTC',
    ...filters
  }: Record<string, string>): number[] =>
    published
      .map((event, nth) => ({ event, id: nth + 1 }))
      .filter(({ event, id }) => {
        const fields: Record<string, unknown> = {
          ...event,
          id,
          feature: event.featureName,
          createdBy: event.createdByUserId,
        };
        const day = `IS:${new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(new Date(event.createdAt))}`;
        const texts = [
          ...Object.entries(event.data ?? {}).flat(),
          ...event.tags.map((tag) => `${tag.type}:${tag.value}`),
        ];
        return (
          Object.entries(filters).every(([name, text]) =>
            text
              .slice(text.indexOf(':') + 1)
              .split(',')
              .includes(String(fields[name])),
          ) &&
          day >= from &&
          day <= to &&
          (query === '' || texts.some((text) => String(text).toLowerCase().includes(query.toLowerCase())))
        );
      })
      .map(({ id }) => id)
      .toReversed();

  const someFilters = fc.record(
    {
      query: fc.constantFrom('oslo', 'FEATURE-created', '%', 'team:', 'nowhere', 'mia@', 't'),
      type: fc.constantFrom('IS:feature-created', 'IS_ANY_OF:feature-created, feature-tagged', 'IS:no-such-type'),
      project: fc.constantFrom('IS:shop', 'IS_ANY_OF:shop,bank,nowhere', 'IS:Shop'),
      feature: fc.constantFrom('IS:banner', 'IS_ANY_OF:banner,cart'),
      environment: fc.constantFrom('IS:production', 'IS_ANY_OF:production,development'),
      createdBy: fc.constantFrom('IS:1', 'IS_ANY_OF:1,-42', 'IS:99'),
      groupId: fc.constantFrom('IS:7', 'IS_ANY_OF:7,9b2d7c1e-0000-4000-8000-000000000001', 'IS:none'),
      id: fc.constantFrom('IS:17', 'IS_ANY_OF:3,17,42,250', 'IS_ANY_OF:1,2,999999', 'IS:-1'),
      from: fc.constantFrom('IS:2026-01-31', 'IS:2026-02-01', 'IS:2026-03-01'),
      to: fc.constantFrom('IS:2026-01-31', 'IS:2026-02-01', 'IS:2026-02-02'),
      timeZone: fc.constantFrom('UTC', 'Asia/Kolkata', 'Pacific/Kiritimati', 'America/Los_Angeles'),
    },
    { requiredKeys: [] },
  );

  describe('The search by filters', () => {
    it('returns what a naive search of a list returns, on every page', async () => {
      await fc.assert(
        fc.asyncProperty(
          someFilters,
          fc.nat({ max: 120 }),
          fc.integer({ min: 1, max: 60 }),
          async (filters, skip, limit) => {
            const ids = expected(
              Object.fromEntries(Object.entries(filters).map(([name, text]) => [name, text.replace(', ', ',')])),
            );
            const answer = await find({ ...filters, offset: String(skip), limit: String(limit) });
            expect(answer.total).toBe(ids.length);
            expect(answer.events.map(({ id }) => id)).toEqual(ids.slice(skip, skip + limit));
          },
        ),
        { numRuns: 60, seed: 5 },
      );
    });

    it('finds events by id, combined with other filters, only among those that the caller may see', async () => {
      const idsOf = async (query: Record<string, string>, caller = mia) =>
        (await find(query, caller)).events.map(({ id }) => id);
      const shop = expected({ project: 'IS:shop' }).slice(0, 2);
      const bank = expected({ project: 'IS:bank' }).slice(0, 1);
      const id = `IS_ANY_OF:${[...shop, ...bank, 999_999].join(',')}`;
      expect(await idsOf({ id, project: 'IS:shop' })).toEqual(shop);
      expect(await idsOf({ id }, callerWithHiddenProjects('shop'))).toEqual(bank);
      expect(await find({ id, limit: '1', offset: '1' })).toMatchObject({ total: 3, events: [expect.anything()] });
    });

    it('returns fifty events per page by default, with label and summary', async () => {
      const { events, total } = await find({});
      expect([events.length, total]).toEqual([50, 250]);
      expect(events[0]).toMatchObject({ id: 250, label: expect.any(String), summary: expect.any(String) });
      expect((await find({ limit: '1000' })).events).toHaveLength(250);
      expect((await find({ offset: '9007199254740991' })).events).toEqual([]);
    });

    it('finds an event in the first search after its commit', async () => {
      for (const nth of [1, 2, 3]) {
        await features.publish(anEvent({ project: 'fresh' }));
        expect((await find({ project: 'IS:fresh' })).total).toBe(nth);
        published.push(anEvent({ project: 'fresh' }));
      }
    });

    it('finds and counts for each caller only the events that they may see', async () => {
      const places = async (caller: typeof mia) =>
        new Set((await find({ limit: '1000' }, caller)).events.map(({ project }) => project));
      expect(await places(mia)).toEqual(new Set(['shop', 'bank', 'Shop', 'fresh', null]));
      expect(await places(lee)).toEqual(new Set(['shop', 'bank', 'Shop', 'fresh']));
      expect(await places(callerWithHiddenProjects('shop', 'Shop', 'fresh'))).toEqual(new Set(['bank']));
      expect((await find({ project: 'IS_ANY_OF:shop,bank' }, callerWithHiddenProjects('shop'))).total).toBe(
        expected({ project: 'IS:bank' }).length,
      );
    });

    it.each([
      ['type', 'feature-created'],
      ['type', 'IS_NOT:feature-created'],
      ['type', 'is:feature-created'],
      ['feature', ''],
      ['feature', `IS_ANY_OF:${'a,'.repeat(200)}b`],
      ['environment', `IS:${'x'.repeat(4_100)}`],
      ['id', 'IS:abc'],
      ['id', '17'],
      ['createdBy', 'IS:abc'],
      ['createdBy', 'IS:1e3'],
      ['from', '2026-02-01'],
      ['from', 'IS:2026-02-30'],
      ['to', 'IS:2026-2-1'],
      ['to', 'IS_ANY_OF:2026-02-01'],
      ['offset', '-1'],
      ['offset', 'x'],
      ['limit', '0'],
      ['limit', '1001'],
      ['limit', '1.5'],
      ['query', 'a\0b'],
    ])('refuses %s=%j and names the parameter', async (name, text) => {
      await expect(find({ [name]: text })).rejects.toMatchObject({
        kind: 'ValidationError',
        details: [{ path: `/query/${name}` }],
      });
    });
  });

  describe('The older event queries', () => {
    it('list the hundred newest events, of all or of a project', async () => {
      const { version, events, totalEvents } = await audit.call(ListNewestEvents);
      expect([version, events.length, totalEvents]).toEqual([1, 100, published.length]);
      expect(events[0]?.id).toBe(published.length);
      const ofShop = await audit.call(ListNewestEvents, { query: { project: 'shop' } });
      expect(ofShop.totalEvents).toBe(expected({ project: 'IS:shop' }).length);
    });

    it('list the events of a feature, and none for a feature that never existed', async () => {
      const { toggleName, totalEvents } = await audit.call(ListNewestEventsOfFeature, {
        params: { featureName: 'cart' },
      });
      expect([toggleName, totalEvents]).toEqual(['cart', expected({ feature: 'IS:cart' }).length]);
      expect(await audit.call(ListNewestEventsOfFeature, { params: { featureName: 'no "such"' } })).toEqual({
        version: 1,
        toggleName: 'no "such"',
        events: [],
        totalEvents: 0,
      });
      const seen = await audit.call(
        ListNewestEventsOfFeature,
        { params: { featureName: 'cart' } },
        callerWithHiddenProjects('shop', 'bank', 'Shop'),
      );
      expect(seen.totalEvents).toBe(0);
    });

    it('list the actors of visible events by their newest name', async () => {
      await features.publish(
        anEvent({ project: 'creators', createdByUserId: 7, createdBy: 'old@example.com' }),
        anEvent({ project: 'creators', createdByUserId: 7, createdBy: 'Zoe@example.com' }),
        anEvent({ project: null, createdByUserId: 8, createdBy: 'anna@example.com' }),
      );
      const creators = await audit.call(ListEventCreators);
      expect(creators.filter(({ id }) => id > 6)).toEqual([
        { id: 8, name: 'anna@example.com' },
        { id: 7, name: 'Zoe@example.com' },
      ]);
      expect((await audit.call(ListEventCreators, {}, lee)).map(({ id }) => id)).not.toContain(8);
      expect(
        await audit.call(ListEventCreators, {}, callerWithHiddenProjects('shop', 'bank', 'Shop', 'fresh')),
      ).toEqual([{ id: 7, name: 'Zoe@example.com' }]);
    });
  });

  describe('A feature that was moved out of a hidden project', () => {
    it('does not disclose the hidden project in its events', async () => {
      const data = { oldProject: 'vault', newProject: 'shop' };
      const moved = { type: 'feature-project-change' as const, project: 'shop', featureName: 'graduate', data };
      await features.publish(anEvent(moved));
      const query = { feature: 'IS:graduate' };
      const summary = (from: string) => expect.stringContaining(`from **${from}** to **[shop]`);
      expect(await find(query)).toMatchObject({ total: 1, events: [{ data, summary: summary('vault') }] });

      const stranger = callerWithHiddenProjects('vault');
      const asTheySeeIt = { data: { ...data, oldProject: null }, summary: summary('unknown'), tags: [] };
      expect(await find(query, stranger)).toMatchObject({ total: 1, events: [asTheySeeIt] });
      expect(await audit.call(FeedEvents, { query }, stranger)).toMatchObject({ items: [asTheySeeIt] });
      expect(await find(query, callerWithHiddenProjects('shop'))).toEqual({ total: 0, events: [] });
    });
  });
});

describe('the feed', () => {
  let audit: StartedAudit;
  let features: EventProducer;
  beforeAll(async () => {
    audit = await startAudit();
    features = await startEventProducer(audit.bus);
    await features.publish(
      anEvent({ data: { title: 'Half of Oslo' } }),
      anEvent({ type: 'feature-archived', project: 'bank' }),
      anEvent({ type: 'user-created', project: null }),
      ...Array.from({ length: 300 }, (_, nth) => anEvent({ project: 'many', data: { nth } })),
    );
  });
  afterAll(async () => {
    await features.stop();
    await audit.stop();
  });

  type Query = Parameters<typeof read>[0];
  const read = (
    query: { after?: number; follow?: boolean; type?: string; project?: string; query?: string },
    caller = mia,
  ) => audit.call(FeedEvents, { query }, caller);

  /** All pages of the feed, one after the other. */
  const readAll = async (query: Query, caller = mia) => {
    const items = [];
    for (let after = query.after ?? 0; ;) {
      const page = await read({ ...query, after }, caller);
      items.push(...page.items);
      if (page.atEnd) return items;
      expect(page.next).toBeGreaterThan(after);
      after = page.next;
    }
  };
  const idsOf = (items: readonly { id: number }[]) => items.map(({ id }) => id);

  describe('The feed', () => {
    it('feeds all events in their order, with hash, label and summary', async () => {
      const items = await readAll({});
      expect(idsOf(items)).toEqual(Array.from({ length: 303 }, (_, nth) => nth + 1));
      expect(items[0]).toMatchObject({
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        data: { title: 'Half of Oslo' },
        label: 'Flag created',
        summary: expect.any(String),
      });
      const hashes = await audit.database.read<{ hash: string }>({
        text: "select encode(hash, 'hex') as hash from event order by id",
      });
      expect(items.map(({ hash }) => hash)).toEqual(hashes.map(({ hash }) => hash));
    });

    it('begins after an id, and ends at the newest event', async () => {
      expect(idsOf(await readAll({ after: 301 }))).toEqual([302, 303]);
      expect(await read({ after: 303 })).toEqual({ items: [], next: 303, atEnd: true });
    });

    it('contains what was committed before the request', async () => {
      for (const nth of [1, 2, 3]) {
        await features.publish(anEvent({ project: 'fresh' }));
        expect(await readAll({ project: 'IS:fresh' })).toHaveLength(nth);
      }
    });

    it('feeds events that match the filters, and skips all others', async () => {
      expect(idsOf(await readAll({ type: 'IS_ANY_OF:feature-archived,user-created' }))).toEqual([2, 3]);
      expect(idsOf(await readAll({ project: 'IS:many', query: '299' }))).toEqual([303]);
      const nothing = await read({ project: 'IS:nowhere' });
      expect(nothing.items).toEqual([]);
      expect(nothing.next).toBeGreaterThanOrEqual(303);
    });

    it('feeds each caller the events that they may see', async () => {
      expect(idsOf(await readAll({}, lee))).not.toContain(3);
      expect(idsOf(await readAll({}, callerWithHiddenProjects('shop', 'many')))).toContain(2);
      expect(idsOf(await readAll({}, callerWithHiddenProjects('bank')))).not.toContain(2);
      expect(idsOf(await readAll({ project: 'IS:shop' }, callerWithHiddenProjects('shop')))).toEqual([]);
    });

    it('has pages that the message bus can carry, however large the events are', async () => {
      const { next } = await read({ after: 303 });
      await features.publish(
        ...Array.from({ length: 5 }, () => anEvent({ project: 'large', data: { text: 'x'.repeat(300_000) } })),
      );
      const page = await read({ after: next });
      expect(page).toMatchObject({ atEnd: false, items: [{ project: 'large' }] });
      expect(await readAll({ after: next })).toHaveLength(5);
    });

    it('refuses an id that no event has yet, and names it', async () => {
      for (const follow of [true, false]) {
        await expect(read({ after: 100_000, follow })).rejects.toMatchObject({
          kind: 'ValidationError',
          details: [{ path: '/query/after' }],
        });
      }
    });
  });
});
