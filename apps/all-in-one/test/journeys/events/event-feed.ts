import type { FeedEvent } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { describe, expect, it } from 'vitest';
import { platformClient } from '../../support/platform-client.ts';
import type { Platform } from '../../support/platform.ts';

const writers = 50;
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
