import { type Event, Events, eventTypes, type FeedEvent } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectFits, expectRefusal, featurePath, platformClient, timestamp } from '../../support/clients.ts';
import type { Platform } from '../../support/platform.ts';

/** The event search, and the events that writes emit. */
export const describeEvents = (platform: () => Platform): void => {
  describe('the event log', () => {
    const client = () => platformClient(platform().api);
    const search = (body: unknown) => platform().api<Events>('POST', '/api/admin/events/search', body);

    describe('after one write after another', () => {
      const project = 'events';
      const address = featurePath(project, 'events-flag');
      const emitted: Event[] = [];

      /** The events of the write in the project, oldest first. */
      const since = async (write: () => Promise<unknown>): Promise<Event[]> => {
        await write();
        const { events } = await client().events({ project });
        const newer = events.filter(({ id }) => id > (emitted.at(-1)?.id ?? 0)).toReversed();
        emitted.push(...newer);
        return newer;
      };

      it('has the event of each write, with the name of its object', async () => {
        const at = { project, featureName: 'events-flag', environment: null };
        const inDevelopment = { ...at, environment: 'development' };

        expect(await since(() => client().createProject(project))).toMatchObject([
          { type: 'project-created', project, environment: null, featureName: null, data: { id: project } },
        ]);
        expect(
          await since(() => client().createFeature(project, 'events-flag', { description: 'for events' })),
        ).toMatchObject([
          { ...at, type: 'feature-created', data: { name: 'events-flag', description: 'for events' }, preData: null },
        ]);
        const added = await since(() => client().addStrategy(address, 'development', { title: 'First' }));
        expect(added).toMatchObject([
          { ...inDevelopment, type: 'feature-strategy-add', data: { title: 'First', segments: [] }, preData: null },
        ]);
        const { id } = added[0]?.data as { id: string };
        expect(
          await since(() =>
            client().patchStrategy(address, 'development', id, [{ op: 'replace', path: '/title', value: 'Second' }]),
          ),
        ).toMatchObject([
          {
            ...inDevelopment,
            type: 'feature-strategy-update',
            preData: { id, title: 'First' },
            data: { id, title: 'Second' },
          },
        ]);
        expect(await since(() => client().addTag('events-flag', 'simple', 'events-tag'))).toMatchObject([
          {
            ...at,
            type: 'feature-tagged',
            data: { type: 'simple', value: 'events-tag' },
            preData: null,
            tags: [{ type: 'simple', value: 'events-tag' }],
          },
        ]);
        expect((await client().events({ type: 'tag-created', query: 'events-tag' })).events).toMatchObject([
          { project: null, featureName: null, data: { type: 'simple', value: 'events-tag' } },
        ]);
        expect(await since(() => client().toggle(address, 'development', 'on'))).toMatchObject([
          { ...inDevelopment, type: 'feature-environment-enabled', tags: [{ value: 'events-tag' }] },
        ]);
        expect(await since(() => client().toggle(address, 'development', 'on'))).toEqual([]);
        expect(await since(() => client().toggle(address, 'development', 'off'))).toMatchObject([
          { ...inDevelopment, type: 'feature-environment-disabled' },
        ]);
        const untag = () => platform().api('DELETE', '/api/admin/features/events-flag/tags/simple/events-tag');
        expect(await since(untag)).toMatchObject([
          {
            ...at,
            type: 'feature-untagged',
            data: null,
            preData: { type: 'simple', value: 'events-tag' },
            tags: [{ type: 'simple', value: 'events-tag' }],
          },
        ]);
        expect(await since(untag)).toEqual([]);
        expect(await since(() => client().createSegment({ name: 'events-segment', project }))).toMatchObject([
          { type: 'segment-created', project, featureName: null, data: { name: 'events-segment' } },
        ]);
        const proposal = { action: 'updateEnabled', feature: 'events-flag', payload: { enabled: true } };
        expect(
          await since(() =>
            platform().api('POST', `/api/admin/projects/${project}/environments/production/change-requests`, proposal),
          ),
        ).toMatchObject([
          {
            type: 'change-request-created',
            project,
            environment: 'production',
            data: { changeRequestId: expect.any(Number) },
          },
          { ...at, type: 'change-added', environment: 'production', data: { action: 'updateEnabled' } },
        ]);
        const imported = {
          features: [{ name: 'events-imported' }],
          featureStrategies: [{ name: 'default', featureName: 'events-imported' }],
          featureEnvironments: [{ featureName: 'events-imported', enabled: true }],
          featureTags: [{ featureName: 'events-imported', tagType: 'events-type', tagValue: 'imported' }],
          tagTypes: [{ name: 'events-type' }],
        };
        const types = (
          await since(() =>
            platform().api('POST', '/api/admin/features-batch/import', {
              project,
              environment: 'development',
              data: imported,
            }),
          )
        ).map(({ type }) => type);
        expect(types.toSorted()).toEqual([
          'feature-created',
          'feature-environment-enabled',
          'feature-strategy-add',
          'feature-tagged',
          'features-imported',
        ]);
        expect([types[0], types.at(-1)]).toEqual(['feature-created', 'features-imported']);
        expect((await client().events({ type: 'tag-type-created', query: 'events-type' })).totalEvents).toBe(1);
        expect(await since(() => client().archive(address))).toMatchObject([{ ...at, type: 'feature-archived' }]);
      });

      it('has the user and the time of each event, in the format of the interface', async () => {
        const { status, headers, body } = await search({ project });
        expect(status).toBe(200);
        expectFits(Events, body);
        expect(body.version).toBe(1);
        expect(body.events.length).toBeGreaterThan(10);
        for (const event of body.events) {
          expect(event).toMatchObject({ createdAt: timestamp, createdBy: expect.any(String), createdByUserId: -42 });
          expect(eventTypes).toContain(event.type);
          expect(Array.isArray(event.tags)).toBe(true);
        }
        expect(headers.get('deprecation')).not.toBeNull();
      });

      it('lists events with descending ids', async () => {
        const { body } = await search({ project });
        expect(emitted.length).toBeGreaterThan(10);
        expect(body.events).toEqual(emitted.toReversed());
        const ids = body.events.map(({ id }) => id);
        expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => b - a));
      });
    });

    describe('as a search', () => {
      const project = 'events-search';
      let all: Event[];

      beforeAll(async () => {
        await client().createProject(project);
        for (const name of ['events-a', 'events-b', 'events-c']) {
          await client().createFeature(project, name, { description: `Says "${name}!" 100%` });
          await client().toggle(featurePath(project, name), 'development', 'on');
        }
        all = (await client().events({ project })).events;
      });

      it('starts at the event whose id is the offset, that event included', async () => {
        expect(all).toHaveLength(10);
        const third = all[2]?.id as number;
        expect((await client().events({ project, offset: third })).events).toEqual(all.slice(2));
        expect((await client().events({ project, offset: third + 1 })).events[0]?.id).toBeGreaterThanOrEqual(third);
        expect((await client().events({ project, offset: 0 })).events).toEqual(all);
        expect((await client().events({ project, offset: Number.MAX_SAFE_INTEGER })).events).toEqual(all);
        expect((await client().events({ project, offset: 1 })).events.length).toBeLessThanOrEqual(1);
      });

      it('returns every event once, page by page', async () => {
        const walked: Event[] = [];
        for (let offset: number | undefined; walked.length < 20;) {
          const { events } = await client().events({ project, limit: 3, ...(offset === undefined ? {} : { offset }) });
          walked.push(...events);
          const last = events.at(-1);
          if (last === undefined || last.id === all.at(-1)?.id) break;
          offset = last.id - 1;
        }
        expect(walked).toEqual(all);
      });

      it('returns the total of all matching events, not of the page', async () => {
        const count = async (criteria: object) => (await search({ project, limit: 1, ...criteria })).body;
        expect(await count({})).toMatchObject({ totalEvents: 10, events: [all[0]] });
        expect((await count({ type: 'feature-created' })).totalEvents).toBe(3);
        expect((await count({ feature: 'events-b' })).totalEvents).toBe(3);
        expect((await count({ query: 'EVENTS-C!' })).totalEvents).toBe(1);
        expect((await count({ type: 'feature-created', feature: 'events-a' })).totalEvents).toBe(1);
      });

      it('finds text in the type, the user and the data, with every character taken literally', async () => {
        const found = async (query: string) => (await client().events({ project, query })).totalEvents;
        const [someone] = all.map(({ createdBy }) => createdBy);
        expect({
          type: await found('ENVIRONMENT-enabled'),
          user: await found((someone as string).toUpperCase()),
          data: await found('100%'),
          percent: await found('1%0'),
          underscore: await found('events_a'),
          nothing: await found('nothing like it'),
        }).toEqual({ type: 3, user: 10, data: 3, percent: 0, underscore: 0, nothing: 0 });
      });

      it('is case-sensitive for projects, features and types', async () => {
        expect((await client().events({ project: 'Events-search' })).totalEvents).toBe(0);
        expect((await client().events({ project, feature: 'Events-a' })).totalEvents).toBe(0);
        expectRefusal(await search({ type: 'Feature-created' }), 400, 'ValidationError', '/body/type');
      });

      it('returns 100 events at most', async () => {
        expectRefusal(await search({ limit: 101 }), 400, 'ValidationError', '/body/limit');
        expectRefusal(await search({ limit: 0 }), 400, 'ValidationError', '/body/limit');
        expect((await client().events({ limit: 100 })).events.length).toBeLessThanOrEqual(100);
      });
    });
  });
};

const writers = 25;
const writesEach = 4;

/** The event feed, for clients that must not miss an event. */
export const describeEventFeed = (platform: () => Platform): void => {
  describe('the event feed', () => {
    const project = 'feed';
    const feed = '/api/admin/events/feed';

    /** Follows the feed, and reconnects after its last event whenever it has read `linesPerConnection` lines. */
    const follow = (query: string, after: number, linesPerConnection: number) => {
      const seen: FeedEvent[] = [];
      let leaving: AbortController | undefined;
      let left = false;
      const connect = async (): Promise<void> => {
        leaving = new AbortController();
        const from = seen.at(-1)?.id ?? after;
        const response = await fetch(`${platform().url}${feed}?follow=true&after=${from}&${query}`, {
          headers: { authorization: platform().token },
          signal: leaving.signal,
        });
        let rest = '';
        let lineCount = 0;
        for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
          const lines = `${rest}${Buffer.from(bytes).toString('latin1')}`.split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) {
            if (line === '') continue;
            seen.push(JSON.parse(Buffer.from(line, 'latin1').toString()) as FeedEvent);
            if (++lineCount >= linesPerConnection) return;
          }
        }
      };
      const following = (async () => {
        while (!left) await connect().catch(() => undefined);
      })();
      return {
        seen,
        stop: async () => {
          left = true;
          leaving?.abort();
          await following;
        },
      };
    };

    it(`delivers every event exactly once to a follower that reconnects while ${writers} clients write`, async () => {
      const client = platformClient(platform().api);
      await client.createProject(project);
      const [newest] = (await client.events({ limit: 1 })).events;
      const after = newest?.id ?? 0;
      const readers = [follow('', after, 1_000_000), follow(`project=IS:${project}`, after, 17)];
      const names = Array.from({ length: writers }, (_, writer) =>
        Array.from({ length: writesEach }, (_, nth) => `feed-${writer}-${nth}`),
      );
      await Promise.all(
        names.map(async (ofWriter) => {
          for (const name of ofWriter) await client.createFeature(project, name);
        }),
      );
      try {
        await eventually(() => {
          for (const { seen } of readers) {
            const emitted = seen.filter(({ type, project: of }) => type === 'feature-created' && of === project);
            expect(emitted).toHaveLength(writers * writesEach);
            expect(new Set(emitted.map(({ featureName }) => featureName))).toEqual(new Set(names.flat()));
            const ids = seen.map(({ id }) => id);
            expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
          }
        });
      } finally {
        for (const reader of readers) await reader.stop();
      }
      const whole = await platform().api('GET', `${feed}?after=${after}&project=IS:${project}`);
      expect(whole.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
      const lines = whole.text.split('\n').filter((line) => line !== '');
      expect(lines.map((line) => JSON.parse(line) as FeedEvent)).toEqual(readers[1]?.seen);
    });

    it('has a hash chain that verifies the events that were delivered', async () => {
      const { status, body } = await platform().api('GET', '/api/admin/events/verify');
      expect([status, body]).toMatchObject([200, { intact: true, fault: null }]);
    });
  });
};
