import { deserializeRefusal } from '@bunting/bus';
import {
  type Caller,
  type Event,
  FeedEvents,
  httpOperations,
  operationName,
  SearchEvents,
  type SearchEventsBody,
  serviceOf,
} from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { anEvent, callerWithHiddenProjects, lee, mia } from '../../test/builders.ts';
import { startedAudit, startEventProducer } from '../../test/started-audit.ts';

const { audit, features } = startedAudit({ AUDIT_PUBLIC_URL: 'https://bunting.example/' });

function idsOf(events: readonly Event[]): number[] {
  return events.map(({ id }) => id);
}
function namesOf(events: readonly Event[]) {
  return events.map(({ featureName }) => featureName);
}

describe('The search for events', () => {
  it('finds an event in the first search after its commit', async () => {
    for (const nth of [1, 2, 3, 4, 5]) {
      await features.publish(anEvent({ project: 'fresh', featureName: `fresh-${nth}` }));
      const { events, totalEvents } = await audit.search({ project: 'fresh', limit: 1 });
      expect(namesOf(events)).toEqual([`fresh-${nth}`]);
      expect(totalEvents).toBe(nth);
    }
  });

  it('returns all members of an event, and null for those it does not have', async () => {
    const strategy = { id: 'b8c1', name: 'flexibleRollout', parameters: { rollout: '50' }, segments: [1] };
    await features.publish(
      anEvent({
        type: 'feature-strategy-update',
        createdAt: '2026-02-03T04:05:06.789Z',
        project: 'whole',
        environment: 'production',
        data: { ...strategy, parameters: { rollout: '25' } },
        preData: strategy,
        tags: [{ type: 'simple', value: 'nordic' }],
      }),
      anEvent({ type: 'user-created', createdAt: '2026-02-03T05:05:06+01:00', project: null, featureName: null }),
    );
    const { version, events, totalEvents } = await audit.search({ limit: 2 });
    expect({ version, events, totalEvents }).toEqual({
      version: 1,
      events: [
        {
          id: expect.any(Number),
          createdAt: '2026-02-03T04:05:06.000Z',
          type: 'user-created',
          createdBy: 'mia@example.com',
          createdByUserId: 1,
          environment: null,
          project: null,
          featureName: null,
          data: null,
          preData: null,
          tags: [],
          label: 'User created',
          summary: '**mia@example.com** created user **unknown**',
        },
        {
          id: expect.any(Number),
          createdAt: '2026-02-03T04:05:06.789Z',
          type: 'feature-strategy-update',
          createdBy: 'mia@example.com',
          createdByUserId: 1,
          environment: 'production',
          project: 'whole',
          featureName: 'banner',
          data: { ...strategy, parameters: { rollout: '25' } },
          preData: strategy,
          tags: [{ type: 'simple', value: 'nordic' }],
          label: 'Flag strategy updated',
          summary:
            '**mia@example.com** updated **[banner](https://bunting.example/projects/whole/features/banner)** ' +
            'in project **[whole](https://bunting.example/projects/whole)** ' +
            'by updating strategy **flexibleRollout** in **production** rollout from 50% to 25%',
        },
      ],
      totalEvents: expect.any(Number),
    });
  });

  it('keeps the order of the keys of the data', async () => {
    await features.publish(anEvent({ project: 'order', data: { zebra: 1, apple: { y: 1, x: 2 }, mango: [] } }));
    const { events } = await audit.search({ project: 'order' });
    expect(JSON.stringify(events[0]?.data)).toBe('{"zebra":1,"apple":{"y":1,"x":2},"mango":[]}');
  });

  it('has only types of the interface, and no groups; the search by filters has all', async () => {
    await features.publish(anEvent({ project: 'linked', groupType: 'transaction', groupId: 'both' }));
    await features.publish(anEvent({ project: 'linked', type: 'feature-link-added' }));
    const { events, totalEvents } = await audit.search({ project: 'linked' });
    expect([events.map(({ type }) => type), totalEvents]).toEqual([['feature-created'], 1]);
    expect(events[0]).not.toHaveProperty('groupId');
    const found = await audit.call(SearchEvents, { query: { project: 'IS:linked' } });
    expect(found.events).toMatchObject([
      { type: 'feature-link-added', groupType: null, groupId: null },
      { type: 'feature-created', groupType: 'transaction', groupId: 'both' },
    ]);
  });

  describe('with criteria', () => {
    beforeAll(async () => {
      await features.publish(
        anEvent({ project: 'criteria', featureName: 'one' }),
        anEvent({ project: 'criteria', featureName: 'two' }),
        anEvent({ project: 'criteria', featureName: 'one', type: 'feature-archived' }),
        anEvent({ project: 'criteria', featureName: 'two', type: 'feature-archived', createdBy: 'Lee@Example.com' }),
        anEvent({ project: 'Criteria', featureName: 'one' }),
      );
    });

    it.each<[SearchEventsBody, number]>([
      [{ project: 'criteria' }, 4],
      [{ project: 'Criteria' }, 1],
      [{ project: 'CRITERIA' }, 0],
      [{ project: 'criteria', feature: 'one' }, 2],
      [{ project: 'criteria', feature: 'One' }, 0],
      [{ project: 'criteria', type: 'feature-archived' }, 2],
      [{ project: 'criteria', type: 'feature-archived', feature: 'two' }, 1],
      [{ project: 'criteria', query: 'lee@' }, 1],
      [{ project: 'criteria', query: 'ARCHIVED', feature: 'one' }, 1],
      [{ project: 'criteria', query: 'archived', type: 'feature-created' }, 0],
      [{ project: 'criteria', query: '' }, 4],
    ])('that are %j finds exactly %d events', async (body, found) => {
      const { events, totalEvents } = await audit.search(body);
      expect([events.length, totalEvents]).toEqual([found, found]);
    });
  });

  describe('by text', () => {
    const texts = [
      'half of "Oslo"',
      'C:\\temp\\new',
      '100% sure',
      'snake_case',
      "O'Brien; drop table event; --",
      'ünïcödé ŁÓDŹ',
      'smile 😀 and 👩‍👩‍👧',
      'right\u200fto\u200fleft שלום',
      'first line\nsecond line\ttab',
      '{"rollout":"25"}',
      '{jndi} $1 $2 :name ?',
      'x'.repeat(20_000) + 'end',
    ];
    beforeAll(async () => {
      await features.publish(...texts.map((text) => anEvent({ project: 'text', data: { description: text } })));
    });

    it.each<[string, number]>([
      ['half of "oslo"', 0],
      ['c:\\TEMP\\new', 1],
      ['\\', 1],
      ['100%', 2],
      ['%', 2],
      ['snake_case', 3],
      ['e_c', 3],
      ["o'brien; DROP TABLE event; --", 4],
      ['ÜNÏCÖDÉ łódź', 5],
      ['😀', 6],
      ['👩‍👧', 6],
      ['\u200fleft שלום', 7],
      ['line\nsecond line\ttab', 8],
      ['{"rollout":"25"}', 9],
      ['$1 $2 :name ?', 10],
      ['xend', 11],
    ])('finds an event that contains %j, and no other', async (query, nth) => {
      const { events, totalEvents } = await audit.search({ project: 'text', query });
      expect(events.map(({ data }) => data?.['description'])).toEqual([texts[nth]]);
      expect(totalEvents).toBe(1);
    });

    it.each(['snake%case', 'snakeXcase', '1_0%', '\\\\', '\\%', "''", 'oslo\\"', '\\r', '\\u', 'descriptionhalf'])(
      'takes no character of %j as a wildcard or an escape',
      async (query) => {
        expect(await audit.search({ project: 'text', query })).toMatchObject({ events: [], totalEvents: 0 });
      },
    );

    it('finds keys and values of both data, and tags', async () => {
      await features.publish(
        anEvent({
          project: 'parts',
          preData: { 'Old Key': [{ deep: 'Old Value' }] },
          tags: [{ type: 'team', value: 'Nord' }],
        }),
      );
      for (const query of ['old key', 'OLD VALUE', 'deep', 'team:nord', 'nord']) {
        expect((await audit.search({ project: 'parts', query })).totalEvents).toBe(1);
      }
    });

    it('finds an event by a number and by a word for yes', async () => {
      await features.publish(anEvent({ project: 'values', data: { weight: 333, enabled: true } }));
      expect((await audit.search({ project: 'values', query: '333' })).totalEvents).toBe(1);
      expect((await audit.search({ project: 'values', query: 'true' })).totalEvents).toBe(1);
    });

    it('refuses characters that text cannot hold, and names the parameter', async () => {
      await expect(audit.search({ query: 'a\0b' })).rejects.toThrow(/`\/body\/query` property/);
      await expect(audit.search({ project: '\ud800' })).rejects.toThrow(/`\/body\/project` property/);
    });
  });

  describe('page by page', () => {
    const names = Array.from({ length: 25 }, (_, nth) => `page-${nth}`);
    beforeAll(async () => {
      for (const featureName of names) await features.publish(anEvent({ project: 'pages', featureName }));
    });

    it('lists the newest events first, 100 by default', async () => {
      const { events } = await audit.search({ project: 'pages' });
      expect(namesOf(events)).toEqual(names.toReversed());
      expect(idsOf(events)).toEqual(idsOf(events).toSorted((one, other) => other - one));
      expect(namesOf((await audit.search({ project: 'pages', limit: 2 })).events)).toEqual(['page-24', 'page-23']);
      await features.publish(...Array.from({ length: 130 }, () => anEvent({ project: 'many' })));
      expect((await audit.search({ project: 'many' })).events).toHaveLength(100);
    });

    it.each([{ project: 'pages' }, { project: 'pages', query: 'mia@' }])(
      'begins at the event whose id is the offset, that event included: %j',
      async (body) => {
        const all = idsOf((await audit.search(body)).events);
        const from = async (offset: number) => idsOf((await audit.search({ ...body, offset })).events);
        const tenth = all[9] as number;
        expect(await from(tenth)).toEqual(all.slice(9));
        expect(await from(0)).toEqual(all);
        expect(await from(Number.MAX_SAFE_INTEGER)).toEqual(all);
        expect(await from(all.at(-1) as number)).toEqual(all.slice(-1));
        expect(await from((all.at(-1) as number) - 1)).toEqual([]);
      },
    );

    it('begins below the offset when the event of the offset does not match', async () => {
      await features.publish(anEvent({ project: 'elsewhere' }));
      const [elsewhere] = idsOf((await audit.search({ project: 'elsewhere' })).events);
      expect(namesOf((await audit.search({ project: 'pages', offset: elsewhere as number, limit: 1 })).events)).toEqual(
        ['page-24'],
      );
    });

    it.each([{ project: 'pages' }, { project: 'pages', query: 'MIA@' }])(
      'returns the same total on every page: %j',
      async (body) => {
        const all = idsOf((await audit.search(body)).events);
        for (const offset of [0, ...all]) {
          expect((await audit.search({ ...body, offset, limit: 3 })).totalEvents).toBe(names.length);
        }
      },
    );

    it.each([{}, { query: 'walk' }])('has neither gaps nor overlaps while new events arrive: %j', async (criteria) => {
      const project = `walk-${Object.keys(criteria).length}`;
      const emit = (count: number) =>
        features.publish(...Array.from({ length: count }, () => anEvent({ project, data: { walk: 1 } })));
      await emit(40);
      const before = idsOf((await audit.search({ project, ...criteria })).events);
      const walked: number[] = [];
      for (let offset = 0; ; offset = (walked.at(-1) as number) - 1) {
        const page = idsOf((await audit.search({ project, ...criteria, limit: 7, offset })).events);
        walked.push(...page);
        await emit(3);
        if (page.length < 7 || page.at(-1) === 1) break;
      }
      expect(walked).toEqual(before);
    });
  });

  describe('as a caller with limited rights', () => {
    beforeAll(async () => {
      await features.publish(
        anEvent({ type: 'banner-created', project: 'seen' }),
        anEvent({ type: 'banner-created', project: 'unseen' }),
        anEvent({ type: 'banner-created', project: null }),
      );
    });
    const type = 'banner-created';
    const placesOf = (events: readonly Event[]) => events.map(({ project }) => project);

    it.each([
      ['an admin', mia, [null, 'unseen', 'seen']],
      ['who may only read', lee, ['unseen', 'seen']],
      ['to whom a project is hidden', callerWithHiddenProjects('unseen'), ['seen']],
      ['to whom several are hidden', callerWithHiddenProjects('seen', 'unseen', 'absent'), []],
      ['to whom a project without events is hidden', callerWithHiddenProjects('absent'), ['unseen', 'seen']],
    ])('finds and counts for %s only the events that they may see', async (_who, caller, places) => {
      for (const body of [{ type }, { type, query: 'banner-' }, { type, feature: 'banner' }] as const) {
        const { events, totalEvents } = await audit.search(body, caller);
        expect(placesOf(events)).toEqual(places);
        expect(totalEvents).toBe(places.length);
      }
    });

    it('finds no event of a project that the caller may not see', async () => {
      for (const body of [{ project: 'unseen' }, { project: 'unseen', query: 'banner' }]) {
        expect(await audit.search(body, callerWithHiddenProjects('unseen'))).toMatchObject({
          events: [],
          totalEvents: 0,
        });
      }
    });
  });
});

describe('The search for events while a producer is unavailable', () => {
  it('returns the stored events and the age of the result', async () => {
    const { headers, events } = await audit.search({ limit: 1 });
    expect(events).toHaveLength(1);
    expect(Number(headers['Bunting-Stale'])).toBeGreaterThan(0);
  });

  it('omits the age once all producers are available again', async () => {
    const others = [
      await startEventProducer(audit.bus, 'gateway'),
      await startEventProducer(audit.bus, 'change-requests'),
      await startEventProducer(audit.bus, 'integrations'),
    ];
    try {
      expect((await audit.search({ limit: 1 })).headers).toEqual({});
      await others[0]?.publish(anEvent({ type: 'api-token-created', project: null }));
      const { events, headers } = await audit.search({ limit: 1 });
      expect(events).toMatchObject([{ type: 'api-token-created' }]);
      expect(headers).toEqual({});
    } finally {
      for (const other of others) await other.stop();
    }
  });

  it('does not wait beyond the deadline of the caller', async () => {
    const { database } = features;
    const blocker = await database.session();
    await blocker.query('begin; lock table outbox_topic in access exclusive mode');
    // Otherwise the search would know that there is nothing to wait for.
    audit.bus.commits?.begin({ producer: 'features', topic: 'event' })();
    try {
      // A busy machine may leave no time for the search itself.
      const outcome = await audit.search({ limit: 1 }, mia, 600).then(
        ({ headers }) => Number(headers['Bunting-Stale']) > 0,
        (refused: unknown) => (refused as { kind?: string }).kind === 'ServiceUnavailable',
      );
      expect(outcome).toBe(true);
    } finally {
      await blocker.query('rollback');
      blocker.release();
    }
  });
});

// All that shows events: the others are about the log itself.
const aboutTheLog = ['collect-dead-letters', 'get-event-log-size', 'verify-event-log'];
const queries = httpOperations
  .filter((operation) => serviceOf(operation) === 'audit' && !aboutTheLog.includes(operationName(operation)))
  .map((operation) => [operationName(operation), operation] as const);

describe.each(queries)('%s', (_name, operation) => {
  const respond = async (caller: Caller) => {
    const request = { params: { featureName: 'of-the-vault' }, query: { feature: 'IS:of-the-vault' }, body: {} };
    const answer = await audit.respond(operation, request as never, caller);
    if ('refusal' in answer) throw deserializeRefusal(answer.refusal);
    return answer.reply;
  };

  // The feed says where it ends instead.
  it.skipIf(operation === FeedEvents)('says how old its result may be while a producer is unavailable', async () => {
    expect(Number((await respond(mia)).headers['Bunting-Stale'])).toBeGreaterThan(0);
  });

  it('shows nothing of a project that the caller may not see', async () => {
    const secret = {
      project: 'vault',
      featureName: 'of-the-vault',
      createdBy: 'guard@example.com',
      createdByUserId: 77,
    };
    await features.publish(anEvent(secret));
    expect((await respond(mia)).json).toContain('guard@example.com');
    expect((await respond({ ...mia, hiddenProjects: ['vault'] })).json).not.toContain('guard@example.com');
  });
});
