import { implement } from '@bunting/bus';
import { type Caller, type Event, FeedEvents, invalid, unavailable } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { rawRequest } from '../../../test/connections.ts';
import { adminToken, startGateway, startedGateway } from '../../../test/started-gateway.ts';

const quietMs = 600;

/** the events of the log, which the stand-in service returns in pages of two */
let log: Event[] = [];
let reads: { after: number; follow: boolean | undefined; caller: Caller }[] = [];
let away = false;

const anEvent = (id: number, data: Event['data'] = null): Event & { hash: string | null } => ({
  id,
  createdAt: '2026-11-21T08:00:00.000Z',
  type: 'feature-created',
  createdBy: 'mia',
  data,
  hash: null,
});
/** What a service does after a commit that has emitted events. */
const wakeStreams = () => gateway.bus.notify({ producer: 'features', topic: 'event' });
const events = (count: number) => Array.from({ length: count }, (_, nth) => anEvent(nth + 1));

const gateway = startedGateway({ environment: { GATEWAY_MAX_STREAM_SECONDS: '20' } });
beforeAll(() =>
  gateway.behind([
    implement(FeedEvents, async ({ query: { after = 0, follow }, caller, setHeader }) => {
      reads.push({ after, follow, caller });
      if (away) throw unavailable('Away for a moment.');
      if (after > log.length) throw invalid('The `/query/after` property is beyond the end.', '/query/after');
      if (after === 0) setHeader('Bunting-Stale', '3');
      const items = log.slice(after, after + 2) as ReturnType<typeof anEvent>[];
      return { items, next: after + items.length, atEnd: after + items.length >= log.length };
    }),
  ]),
);
afterEach(() => {
  log = [];
  reads = [];
  away = false;
});

const feed = '/api/admin/events/feed';
const idsIn = (text: string): number[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as Event).id);

/** Reads lines until the condition holds. */
const follow = async (path: string, key?: string) => {
  const leaving = new AbortController();
  const response = await gateway.send(path, { signal: leaving.signal, ...(key === undefined ? {} : { key }) });
  const ids: number[] = [];
  const ended = (async () => {
    let rest = '';
    for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
      const lines = `${rest}${Buffer.from(bytes).toString()}`.split('\n');
      rest = lines.pop() ?? '';
      ids.push(...idsIn(lines.join('\n')));
    }
    return 'whole';
  })().catch(() => 'cut');
  return { response, ids, ended, leave: () => leaving.abort() };
};

describe('A stream of events', () => {
  it('responds to HEAD like to GET without the lines, and takes no permit', async () => {
    log = events(5);
    for (let nth = 0; nth < 10; nth++) {
      const response = await gateway.send(`${feed}?follow=true`, { method: 'HEAD' });
      expect([response.status, await response.text()]).toEqual([200, '']);
      expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
      expect(response.headers.get('bunting-stale')).toBe('3');
    }
    expect((await gateway.send(`${feed}?after=9`, { method: 'HEAD' })).status).toBe(400);
    expect((await gateway.send(feed, { method: 'HEAD', key: null })).status).toBe(401);
  });

  it('has one JSON text per line, over all pages', async () => {
    log = events(5);
    const response = await gateway.send(feed);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('bunting-stale')).toBe('3');
    expect(idsIn(await response.text())).toEqual([1, 2, 3, 4, 5]);
    expect(reads.map(({ after }) => after)).toEqual([0, 2, 4]);
  });

  it('continues after an interruption where it ended', async () => {
    log = events(5);
    expect(idsIn(await (await gateway.send(`${feed}?after=3`)).text())).toEqual([4, 5]);
    expect(await (await gateway.send(`${feed}?after=5`)).text()).toBe('');
  });

  it.each([
    ['after=-1', '/query/after'],
    ['after=x', '/query/after'],
    ['after=9', '/query/after'],
    ['follow=perhaps', '/query/follow'],
  ])('is refused like any other request before it begins: %s', async (query, path) => {
    const response = await gateway.send(`${feed}?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ name: 'ValidationError', details: [{ path }] });
  });

  it('is rejected for SDK tokens and without a token', async () => {
    const token = 'default:development.feed0123456789abcdef0123456789abcdef0123456789';
    await gateway.givenToken({ token, kind: 'client' });
    expect((await gateway.send(feed, { key: token })).status).toBe(403);
    expect((await gateway.send(feed, { key: null })).status).toBe(401);
  });

  it('continues with later items in follow mode, each exactly once', async () => {
    log = events(3);
    const { response, ids, leave, ended } = await follow(`${feed}?follow=true`);
    expect(response.status).toBe(200);
    await eventually(() => expect(ids).toEqual([1, 2, 3]));
    log = events(6);
    wakeStreams();
    await eventually(() => expect(ids).toEqual([1, 2, 3, 4, 5, 6]));
    leave();
    await ended;
  });

  it('sends headers immediately in follow mode without items', async () => {
    const { response, leave, ended } = await follow(`${feed}?follow=true`);
    expect(response.status).toBe(200);
    leave();
    await ended;
  });

  it('begins with all that was committed before it, which no wake-up announces again', async () => {
    log = events(3);
    const { ids, leave, ended } = await follow(`${feed}?follow=true`);
    await eventually(() => expect(ids).toEqual([1, 2, 3]));
    expect(reads.map(({ after, follow: follows }) => [after, follows])).toEqual([
      [0, false],
      [2, false],
    ]);
    leave();
    await ended;
  });

  it('stops calling the service when the client disconnects', async () => {
    const { leave, ended } = await follow(`${feed}?follow=true`);
    wakeStreams();
    await eventually(() => expect(reads.length).toBeGreaterThan(1));
    leave();
    await ended;
    // The only sign that the loop has ended is that it does not call the service when streams are woken.
    await eventually(async () => {
      const before = reads.length;
      wakeStreams();
      await sleep(quietMs);
      expect(reads.length).toBe(before);
    });
  });

  it('makes no call while nothing happens, and reads what was committed when it is woken', async () => {
    log = events(2);
    const streams = await Promise.all([1, 2, 3, 4].map(() => follow(`${feed}?follow=true`)));
    await eventually(() => {
      for (const { ids } of streams) expect(ids).toEqual([1, 2]);
    });
    await eventually(async () => {
      const before = reads.length;
      await sleep(quietMs);
      expect(reads.length).toBe(before);
    });
    reads = [];
    log = events(3);
    wakeStreams();
    await eventually(() => {
      for (const { ids } of streams) expect(ids).toEqual([1, 2, 3]);
    });
    // Such a read waits until the log has every event that is committed.
    expect(new Set(reads.map((read) => read.follow))).toEqual(new Set([false]));
    for (const { leave, ended } of streams) {
      leave();
      await ended;
    }
  });

  it('ends when the token is revoked', async () => {
    const token = 'user:feed9876543210fedcba9876543210fedcba';
    await gateway.givenToken({ token });
    const { ids, ended } = await follow(`${feed}?follow=true`, token);
    log = events(2);
    wakeStreams();
    await eventually(() => expect(ids).toEqual([1, 2]));
    await gateway.database.transaction(({ query }) =>
      query('update api_token set revoked_at = now() where user_id is not null'),
    );
    expect(await ended).toBe('cut');
    expect(reads.at(-1)?.caller.grants).toEqual([]);
  });

  it('continues after a short outage of the service', async () => {
    log = events(2);
    const { ids, leave, ended } = await follow(`${feed}?follow=true`);
    await eventually(() => expect(ids).toEqual([1, 2]));
    away = true;
    const before = reads.length;
    wakeStreams();
    await eventually(() => expect(reads.length).toBeGreaterThan(before + 1));
    away = false;
    log = events(3);
    await eventually(() => expect(ids).toEqual([1, 2, 3]));
    leave();
    await ended;
  });

  it('is one of five concurrent streams per token', async () => {
    const [greedy, other] = ['user:feed0000000000000000000000greedy', 'user:feed00000000000000000000another'];
    await gateway.givenToken({ token: greedy });
    await gateway.givenToken({ token: other });
    const refused = await Promise.all(
      Array.from({ length: 6 }, () => gateway.send(`${feed}?after=9`, { key: greedy })),
    );
    expect(refused.map(({ status }) => status).filter((status) => status === 400).length).toBeGreaterThanOrEqual(5);
    const open = await Promise.all(Array.from({ length: 6 }, () => follow(`${feed}?follow=true`, greedy)));
    expect(open.map(({ response }) => response.status).sort()).toEqual([200, 200, 200, 200, 200, 429]);
    const another = await follow(`${feed}?follow=true`, other);
    expect(another.response.status).toBe(200);
    for (const { leave, ended } of [...open, another]) {
      leave();
      await ended;
    }
    await eventually(async () => {
      const again = await follow(`${feed}?follow=true`, greedy);
      again.leave();
      expect(again.response.status).toBe(200);
    });
  });

  it('is one of ten concurrent streams per user over all tokens', async () => {
    const people = [900, 901].map((id) => ({
      id,
      keys: [0, 1, 2].map((nth) => `user:feed${id}of${nth}`.padEnd(40, '0')),
    }));
    for (const { id, keys } of people) {
      await gateway.database.transaction(({ query }) =>
        query(
          `insert into api_user (id, username, root_role_id) overriding system value
           values ($1, $2, 3)`,
          [id, `streams-${id}`],
        ),
      );
      for (const token of keys) await gateway.givenToken({ token, userId: id });
    }
    const [many = [], one = []] = people.map(({ keys }) => keys);
    const opened = await Promise.all(
      many.flatMap((key) => Array.from({ length: 4 }, () => follow(`${feed}?follow=true`, key))),
    );
    const statuses = opened.map(({ response }) => response.status).sort();
    expect(statuses).toEqual([...Array<number>(10).fill(200), 429, 429]);
    const another = await follow(`${feed}?follow=true`, one[0]);
    expect(another.response.status).toBe(200);
    for (const { leave, ended } of [...opened, another]) {
      leave();
      await ended;
    }
  });

  it('reads from the service at the speed of the client', async () => {
    log = Array.from({ length: 400 }, (_, nth) => anEvent(nth + 1, { text: 'x'.repeat(100_000) }));
    const response = await gateway.send(feed);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    let last = -1;
    let unchanged = 0;
    await eventually(() => {
      unchanged = reads.length === last ? unchanged + 1 : 0;
      last = reads.length;
      if (unchanged < 10) throw new Error('still reading');
    });
    expect(reads.length).toBeLessThan(150);
    await reader.cancel();
  });
});

describe('A stopping gateway', () => {
  it('ends a followed stream after a complete line', async () => {
    const stopping = await startGateway();
    await stopping.behind([
      implement(FeedEvents, async ({ query: { after = 0 } }) => ({ items: [], next: after, atEnd: true })),
    ]);
    const response = await stopping.send(`${feed}?follow=true`);
    const text = response.text();
    await stopping.stop();
    expect(await text).toBe('');
  });

  it('cuts a stream that its client does not read', async () => {
    const stopping = await startGateway();
    let pages = 0;
    await stopping.behind([
      implement(FeedEvents, async ({ query: { after = 0 } }) => {
        pages++;
        return { items: [anEvent(after + 1, { text: 'x'.repeat(500_000) })], next: after + 1, atEnd: false };
      }),
    ]);
    const socket = connect(stopping.port, '127.0.0.1').pause();
    const gone = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    socket.write(rawRequest('GET', feed, { authorization: adminToken }));
    let before = -1;
    await eventually(() => {
      const since = before;
      before = pages;
      expect(pages).toBeGreaterThan(1);
      expect(pages).toBe(since);
    });
    await stopping.stop();
    socket.resume();
    await gone;
  });
});

describe('The documentation', () => {
  it('has the content type of NDJSON', async () => {
    const response = await gateway.send('/docs/openapi.json');
    const { paths } = (await response.json()) as {
      paths: Record<string, { get: { responses: Record<string, { content: object }> } }>;
    };
    expect(paths[feed]?.get.responses['200']?.content).toEqual({
      'application/x-ndjson': { schema: { $ref: '#/components/schemas/feedEventSchema' } },
    });
  });
});
