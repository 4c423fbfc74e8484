import type { ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { eventually, recordingLog, startTcpProxy } from '@bunting/testing';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { fastFollowing, token } from '../../test/changing-origin.ts';
import { listsOfTest } from '../../test/lists-of-test.ts';
import {
  flag,
  type OriginData,
  originData,
  type SimulatedOrigin,
  startSimulatedOrigin,
} from '../../test/simulated-origin.ts';
import type { OriginState } from '../origin-state.ts';
import { followOrigin, type FollowSettings } from './follow-origin.ts';
import type { Mode } from './usable-modes.ts';
import { defaultUpstreamSettings, originClient, type UpstreamSettings } from './origin-client.ts';
import { upstreamMetrics } from './upstream-metrics.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function given({
  change = () => undefined,
}: { readonly change?: (origin: SimulatedOrigin) => unknown } = {}): Promise<SimulatedOrigin> {
  const origin = await startSimulatedOrigin();
  stops.push(() => origin.stop());
  origin.tokens.add(token);
  origin.state.data.put(flag('one'));
  change(origin);
  return origin;
}

/** Follows an origin with short times, and records what SDKs behind the edge would see. */
function follow(
  origin: URL,
  {
    held,
    http,
    refuse = () => false,
    ...changes
  }: Partial<FollowSettings> & {
    readonly held?: OriginState;
    readonly http?: Partial<UpstreamSettings>;
    readonly refuse?: () => boolean;
  } = {},
) {
  const states: OriginState[] = [];
  const refusals: number[] = [];
  const { log, warnings } = recordingLog();
  const settings = { ...defaultUpstreamSettings, hedgeAfterMs: 50, headTimeoutMs: 2_000, ...http };
  const client = originClient({ origin, tokenHeader: 'authorization', settings });
  const following = followOrigin({
    client,
    token,
    held,
    appName: 'edge',
    instanceId: 'edge-1',
    settings: { ...fastFollowing, ...changes },
    lists: listsOfTest().claim(),
    onState: (state) => {
      if (refuse()) throw new Error('Not this one.');
      states.push(state);
    },
    onRefused: () => void refusals.push(states.length),
    log,
    metrics: upstreamMetrics(new Registry()),
  });
  stops.push(async () => {
    await following.close();
    await client.close();
  });
  return {
    following,
    states,
    refusals,
    warnings,
    names: () => states.at(-1)?.features.map(({ name }) => name),
  };
}

const only = (mode: Mode) => ({ modes: new Set([mode]) });
const descriptionOf = (state: OriginState | undefined, name: string) =>
  state?.features.find((feature) => feature.name === name)?.toJSON().description;

describe('the way to the origin', () => {
  it('streams where the origin streams, and passes each change on', async () => {
    const origin = await given();
    const { following, names } = follow(origin.url);
    await eventually(() => expect([names(), following.mode()]).toEqual([['one'], 'streaming']));
    origin.state.data.put(flag('two'));
    origin.wakeStreams();
    await eventually(() => expect(names()).toEqual(['one', 'two']));
    origin.state.data.remove('one');
    origin.wakeStreams();
    await eventually(() => expect(names()).toEqual(['two']));
  });

  it.each<[readonly string[], Mode]>([
    [['/streaming'], 'delta'],
    [['/streaming', '/delta', '/edge/validate'], 'polling'],
  ])('without %s it uses %s', async (lacking, mode) => {
    const origin = await given({ change: ({ state }) => (state.lacks = new Set(lacking)) });
    const { following, names } = follow(origin.url);
    await eventually(() => expect([names(), following.mode()]).toEqual([['one'], mode]));
    origin.state.data.put(flag('two'));
    await eventually(() => expect(names()).toEqual(['one', 'two']));
  });

  it('returns to the stream once the origin has one', async () => {
    const origin = await given({ change: ({ state }) => (state.lacks = new Set(['/streaming'])) });
    const { following } = follow(origin.url);
    await eventually(() => expect(following.mode()).toBe('delta'));
    origin.state.lacks.clear();
    await eventually(() => expect(following.mode()).toBe('streaming'));
  });

  it('resumes after the end of a stream, without everything again', async () => {
    const origin = await given();
    const { names } = follow(origin.url);
    await eventually(() => expect(names()).toEqual(['one']));
    origin.state.data.put(flag('two'));
    for (const stream of origin.streams()) stream.end();
    await eventually(() => expect(names()).toEqual(['one', 'two']));
    const resumed = origin.requests.filter(({ headers }) => headers['last-event-id'] === '1');
    expect(resumed.length).toBeGreaterThan(0);
  });

  it('asks as rarely as Retry-After says', async () => {
    let answered = 0;
    const origin = await given({
      change: ({ state }) => {
        state.lie = ({ url }, response) => {
          if (url === '/edge/validate') return false;
          answered++;
          response.writeHead(503, { 'retry-after': '3600' }).end();
          return true;
        };
      },
    });
    const { following } = follow(origin.url);
    await eventually(() => expect(following.status().failure).toContain('503'));
    // An origin that is asked without it, in the same time, is asked again.
    const other = await given({
      change: ({ state }) => (state.lie = (_request, response) => (response.writeHead(503).end(), true)),
    });
    follow(other.url);
    // A second question may have been on its way when the first was answered.
    await eventually(() => expect(other.requests.length).toBeGreaterThan(5));
    const before = answered;
    await eventually(() => expect(other.requests.length).toBeGreaterThan(15));
    expect(answered).toBe(before);
  });

  it('keeps what it has while the origin is away, and has what is new once it is back', async () => {
    const origin = await given();
    const { following, names, states } = follow(origin.url);
    await eventually(() => expect(names()).toEqual(['one']));
    await origin.goAway();
    await eventually(() => expect(following.status().failure).toBeDefined());
    origin.state.data.put(flag('two'));
    expect(names()).toEqual(['one']);
    await origin.comeBack();
    await eventually(() => expect(names()).toEqual(['one', 'two']));
    expect(states.map(({ revision }) => revision)).toEqual([1, 2]);
  });

  it('notices a connection that is dead without a sign', async () => {
    const origin = await given();
    const proxy = await startTcpProxy(origin.port);
    stops.push(() => proxy.stop());
    const { following, names } = follow(new URL(`http://127.0.0.1:${proxy.port}`), { http: { headTimeoutMs: 1_000 } });
    await eventually(() => expect([names(), following.mode()]).toEqual([['one'], 'streaming']));
    proxy.swallow();
    origin.state.data.put(flag('two'));
    await eventually(() => expect(following.status().failure).toBeDefined());
    proxy.forwardNewConnections();
    await eventually(() => expect(names()).toEqual(['one', 'two']));
  });

  it('waits for a slow origin, whatever it asks meanwhile', async () => {
    const held: (() => void)[] = [];
    const origin = await given({
      change: ({ state }) => {
        state.lie = async ({ url = '' }) => {
          if (url.endsWith('/delta') && held.length < 3) await new Promise<void>((resolve) => held.push(resolve));
          return false;
        };
      },
    });
    const { names } = follow(origin.url, { ...only('delta'), http: { hedgeAfterMs: 20 } });
    await eventually(() => expect(held.length).toBe(3));
    held[0]?.();
    await eventually(() => expect(names()).toEqual(['one']));
  });
});

describe('an origin that lies', () => {
  /** Follows an origin that lies for a while after its first state, and then tells the truth. */
  async function lied(lie: (response: ServerResponse) => void, mode: Mode = 'polling') {
    const origin = await given();
    const follower = follow(origin.url, {
      ...only(mode),
      http: { maxBytes: 1_000_000, bodyTimeoutMs: 1_000, answerTimeoutMs: 100 },
    });
    await eventually(() => expect(follower.names()).toEqual(['one']));
    let lies = 0;
    origin.state.data.put(flag('two'));
    origin.state.lie = ({ url }, response) => {
      if (url === '/edge/validate') return false;
      lies++;
      lie(response);
      return true;
    };
    origin.cut();
    await eventually(() => expect(lies).toBeGreaterThan(4));
    expect([follower.names(), follower.refusals]).toEqual([['one'], []]);
    origin.state.lie = undefined;
    await eventually(() => expect(follower.names()).toEqual(['one', 'two']));
    expect(follower.states.map(({ revision }) => revision)).toEqual([1, 2]);
    return follower;
  }
  const bombs = { gzip: gzipSync(Buffer.alloc(50_000_000, 32)), br: brotliCompressSync(Buffer.alloc(50_000_000, 32)) };
  const asJson = { 'content-type': 'application/json' };

  it.each<[string, (response: ServerResponse) => void]>([
    ['answers a page instead of features', (r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['asks to sign in', (r) => r.writeHead(403, { 'content-type': 'text/html' }).end('<html>Sign in')],
    ['fails with 500', (r) => r.writeHead(500, asJson).end('{"name":"InternalError"}')],
    ['fails with 502', (r) => r.writeHead(502).end()],
    ['answers half a body', (r) => r.writeHead(200, asJson).end('{"features":[{"name":"x"')],
    [
      'breaks off in a body',
      (r) => {
        r.writeHead(200, { ...asJson, 'content-length': '1000' }).write('{"features":[');
        setImmediate(() => r.destroy());
      },
    ],
    ['stops in a body without an end', (r) => void r.writeHead(200, asJson).write('{"features":[')],
    [
      'sends a body byte by byte without an end',
      (r) => {
        r.writeHead(200, asJson);
        const timer = setInterval(() => r.write(' '), 10);
        r.on('close', () => clearInterval(timer));
      },
    ],
    ['answers JSON that is none of its answers', (r) => r.writeHead(200, asJson).end('{"flags":{}}')],
    ['answers null', (r) => r.writeHead(200, asJson).end('null')],
    ['answers a feature without a name', (r) => r.writeHead(200, asJson).end('{"features":[{"enabled":true}]}')],
    [
      'answers values that are nested endlessly',
      (r) =>
        r
          .writeHead(200, asJson)
          .end(`{"features":[{"name":"deep","payload":${'['.repeat(50_000)}${']'.repeat(50_000)}}]}`),
    ],
    ...[
      { strategies: [{ name: 'flexibleRollout', segments: ['one'] }] },
      { variants: [{ weight: 1000 }] },
      { variants: [{ name: 'a', weight: '1000' }] },
      { dependencies: [null] },
      { project: 7 },
    ].map((member): [string, (response: ServerResponse) => void] => [
      `answers ${JSON.stringify(member)}`,
      (r) => r.writeHead(200, asJson).end(JSON.stringify({ features: [{ name: 'x', ...member }] })),
    ]),
    ['answers more than the limit', (r) => r.writeHead(200, asJson).end(`{"features":["${'x'.repeat(2_000_000)}"]}`)],
    ['answers a gzip bomb', (r) => r.writeHead(200, { ...asJson, 'content-encoding': 'gzip' }).end(bombs.gzip)],
    ['answers a brotli bomb', (r) => r.writeHead(200, { ...asJson, 'content-encoding': 'br' }).end(bombs.br)],
    [
      'answers text that is no gzip',
      (r) => r.writeHead(200, { ...asJson, 'content-encoding': 'gzip' }).end('{"features":[]}'),
    ],
    [
      'answers with a revision that is no number',
      (r) => r.writeHead(200, asJson).end('{"features":[],"meta":{"revisionId":"1e9"}}'),
    ],
  ])('%s: SDKs keep what they have', async (_, lie) => {
    await lied(lie);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    [
      'sends an event that is longer than the limit',
      (r) => {
        r.writeHead(200, { 'content-type': 'text/event-stream' });
        r.write(`event: unleash-connected\ndata: ${'x'.repeat(2_000_000)}`);
      },
    ],
    [
      'sends half an event and ends',
      (r) => r.writeHead(200, { 'content-type': 'text/event-stream' }).end('event: unleash-connected\ndata: {"ev'),
    ],
    [
      'sends events that are no JSON',
      (r) =>
        void r
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .write('event: unleash-connected\ndata: <html>\n\n'),
    ],
  ])('its stream %s: SDKs keep what they have', async (_, lie) => {
    await lied(lie, 'streaming');
  });

  it('does not carry the token to where an origin redirects', async () => {
    const elsewhere = await given();
    const before = elsewhere.requests.length;
    await lied((response) => response.writeHead(302, { location: elsewhere.url.href }).end());
    expect(elsewhere.requests.length).toBe(before);
  });

  it('asks for everything after a change of an unknown kind', async () => {
    const origin = await given();
    const { names } = follow(origin.url);
    await eventually(() => expect(names()).toEqual(['one']));
    origin.state.data.put(flag('two'));
    for (const stream of origin.streams()) {
      stream.write('event: unleash-news\ndata: {}\n\n');
      stream.write('event: unleash-updated\nid: 2\ndata: {"events":[{"type":"feature-renamed","eventId":2}]}\n\n');
    }
    await eventually(() => expect(names()).toEqual(['one', 'two']));
  });

  it('keeps properties that it does not know, and fills in those that are missing', async () => {
    const origin = await given({
      change: ({ state }) =>
        state.data.put({ name: 'new', rollout: { kind: 'later' }, strategies: null, dependencies: null }),
    });
    const { states } = follow(origin.url);
    await eventually(() => expect(states.length).toBe(1));
    expect(states[0]?.features[1]?.toJSON()).toEqual({
      name: 'new',
      type: 'release',
      project: 'default',
      stale: false,
      rollout: { kind: 'later' },
      enabled: false,
      strategies: [],
      variants: [],
    });
  });
});

describe('large answers', () => {
  it('all arrive in their turn, however many are asked for at once', async () => {
    const origin = await given();
    origin.state.data.put(flag('large', 'x'.repeat(2_000_000)));
    const client = originClient({
      origin: origin.url,
      tokenHeader: 'authorization',
      settings: { ...defaultUpstreamSettings, maxLargeAnswers: 1, largeBytes: 100_000 },
    });
    stops.push(() => client.close());
    const asked = await Promise.all(
      Array.from({ length: 6 }, async () => client.get({ path: '/api/client/features', token })),
    );
    const sizes = asked.map(({ body }) => (body as { features: { description: string }[] }).features[1]?.description);
    expect(sizes.map((text) => text?.length)).toEqual(Array.from({ length: 6 }, () => 2_000_000));
  });
});

describe('a state that the edge cannot serve', () => {
  it.each<Mode>(['streaming', 'delta', 'polling'])('is asked for again until it can (%s)', async (mode) => {
    const origin = await given();
    let failures = 0;
    const follower = follow(origin.url, { ...only(mode), refuse: () => failures++ < 3 });
    await eventually(() => expect(follower.names()).toEqual(['one']));
    failures = 0;
    origin.state.data.put(flag('two'));
    origin.wakeStreams();
    await eventually(() => expect(follower.names()).toEqual(['one', 'two']));
    expect(failures).toBe(4);
    await eventually(() => expect(follower.following.status().failure).toBeUndefined());
  });
});

describe('older states', () => {
  it.each<Mode>(['streaming', 'delta', 'polling'])(
    'SDKs never see the older state of a replica that lags (%s)',
    async (mode) => {
      const origin = await given();
      const current = origin.state.data;
      const behind = current.copy();
      current.put(flag('two'));
      const follower = follow(origin.url, only(mode));
      await eventually(() => expect(follower.names()).toEqual(['one', 'two']));
      // A balancer that leads every other connection to the replica that lags.
      let turns = 0;
      origin.state.lie = () => {
        origin.state.data = turns++ % 2 === 0 ? behind : current;
        return false;
      };
      await eventually(() => {
        origin.cut();
        expect(turns).toBeGreaterThan(40);
      });
      expect(new Set(follower.states.map(({ revision }) => revision))).toEqual(new Set([2]));
    },
  );

  it.each<Mode>(['streaming', 'delta', 'polling'])(
    'follows an origin that was restored from a backup (%s)',
    async (mode) => {
      const origin = await given();
      const backup = origin.state.data.copy();
      origin.state.data.put(flag('lost'));
      const follower = follow(origin.url, only(mode));
      await eventually(() => expect(follower.names()).toEqual(['one', 'lost']));
      await origin.goAway();
      origin.state.data = backup;
      await origin.comeBack();
      await eventually(() => expect(follower.names()).toEqual(['one']));
      expect(follower.states.at(-1)).toMatchObject({ revision: 1, historyFrom: 3 });
      backup.put(flag('one', 'changed after the restore'));
      origin.wakeStreams();
      await eventually(() => expect(descriptionOf(follower.states.at(-1), 'one')).toBe('changed after the restore'));
    },
  );

  it('follows an origin that is restored a second time before it is as late as before', async () => {
    const origin = await given();
    const backups = [origin.state.data.copy()];
    for (let nth = 0; nth < 8; nth++) origin.state.data.put(flag('lost'));
    const follower = follow(origin.url, only('polling'));
    await eventually(() => expect(follower.states.at(-1)?.revision).toBe(9));
    for (const data of [...backups, backups[0]?.copy()] as OriginData[]) {
      await origin.goAway();
      origin.state.data = data;
      await origin.comeBack();
      await eventually(() => expect(follower.states.at(-1)?.revision).toBe(1));
      data.put(flag('two'));
      await eventually(() => expect(follower.states.at(-1)?.revision).toBe(2));
    }
    const restored = follower.states.filter(({ revision }) => revision === 1).map(({ historyFrom }) => historyFrom);
    expect(restored).toEqual([10, 11]);
  });

  it('has what a restored origin has, even if that has as many revisions again', async () => {
    const origin = await given();
    const backup = origin.state.data.copy();
    origin.state.data.put(flag('lost'));
    const follower = follow(origin.url);
    await eventually(() => expect(follower.names()).toEqual(['one', 'lost']));
    await origin.goAway();
    await eventually(() => expect(follower.following.status().failure).toBeDefined());
    backup.put(flag('kept'));
    backup.put(flag('new'));
    origin.state.data = backup;
    await origin.comeBack();
    await eventually(() => expect(follower.names()).toEqual(['one', 'kept', 'new']));
  });

  it('starts from a snapshot, and asks the origin for everything', async () => {
    const origin = await given();
    const first = follow(origin.url);
    await eventually(() => expect(first.states.length).toBe(1));
    await first.following.close();
    const [held] = first.states as [OriginState];
    const second = follow(origin.url, { held: { ...held, features: [], revision: 0 } });
    await eventually(() => expect(second.names()).toEqual(['one']));
  });
});

describe('the end of following', () => {
  it.each(['/edge/validate', '/api/client/streaming'])(
    'ends a request to %s that the origin does not answer, and waits for nothing',
    async (path) => {
      const asked = Promise.withResolvers<ServerResponse>();
      const origin = await given({
        change: ({ state }) => {
          state.lie = ({ url }, response) => {
            if (url === path) asked.resolve(response);
            return url === path;
          };
        },
      });
      const { following } = follow(origin.url, { http: { headTimeoutMs: 600_000, hedgeAfterMs: 600_000 } });
      const response = await asked.promise;
      await following.close();
      await eventually(() => expect(response.destroyed).toBe(true));
    },
  );

  it('leaves no stream behind that the origin opens meanwhile', async () => {
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const origin = await given({
      change: ({ state }) => {
        state.lie = async ({ url }) => {
          if (url !== '/api/client/streaming') return false;
          asked.resolve();
          await released.promise;
          return false;
        };
      },
    });
    const { following } = follow(origin.url, { http: { hedgeAfterMs: 600_000 } });
    await asked.promise;
    const closed = following.close();
    released.resolve();
    await closed;
    await eventually(() => expect(origin.streams().filter(({ destroyed }) => !destroyed)).toEqual([]));
  });
});

describe('tokens', () => {
  it('gives up what a revoked token delivered, and follows it again if it is valid again', async () => {
    const origin = await given();
    const follower = follow(origin.url);
    await eventually(() => expect(follower.names()).toEqual(['one']));
    origin.tokens.delete(token);
    origin.cut();
    await eventually(() => expect(follower.refusals).toEqual([1]));
    expect(follower.warnings.join()).not.toContain(token);
    origin.tokens.add(token);
    await eventually(() => expect(follower.states.length).toBe(2));
    expect(follower.refusals.length).toBe(1);
  });

  it('does not believe a single refusal', async () => {
    const origin = await given();
    const follower = follow(origin.url, only('polling'));
    await eventually(() => expect(follower.names()).toEqual(['one']));
    let refused = 0;
    origin.state.lie = ({ url }, response) => {
      if (url === '/edge/validate' || refused++ % 2 === 1) return false;
      response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
      return true;
    };
    await eventually(() => expect(refused).toBeGreaterThan(10));
    expect(follower.refusals).toEqual([]);
  });

  it('serves only what a narrowed token is for', async () => {
    const origin = await given();
    const follower = follow(origin.url, { validateAfterMs: 0, ...only('delta') });
    await eventually(() => expect(follower.names()).toEqual(['one']));
    const narrowed = originData('production');
    origin.state.data = narrowed;
    await eventually(() =>
      expect(follower.states.at(-1)).toMatchObject({
        environment: 'production',
        revision: 0,
        historyFrom: 2,
        features: [],
      }),
    );
  });
});
