import type { Endpoint } from '@bunting/bus';
import { eventually } from '@bunting/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { get, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { deliveryOutbox, featureRow, givenRows } from '@bunting/delivery/test';
import { startGateway, startedGateway } from '../started-gateway.ts';

const secret = (projects: string, nth: number): string => `${projects}:development.${String(nth).padStart(48, '0')}`;
const [everything, north, limited] = [secret('*', 1), secret('north', 2), secret('*', 3)];
const large = 400;

const outbox = deliveryOutbox();

const gateway = startedGateway({
  environment: {
    GATEWAY_TOKEN_CACHE_TTL_MS: '5000',
    GATEWAY_CORS_ORIGINS: 'https://flags.example.org',
    GATEWAY_MAX_REQUESTS_PER_MINUTE: '100000',
    GATEWAY_BEHIND_TLS: 'true',
    GATEWAY_MAX_UNREAD_RESPONSE_BYTES: String(1024 * 1024),
  },
});
beforeAll(async () => {
  outbox.write(...givenRows('default', 'north'), featureRow('in-north', { project: 'north' }));
  for (let nth = 0; nth < large; nth++) outbox.write(featureRow(`flag-${nth}`, { description: 'x'.repeat(3_000) }));
  await gateway.behind([outbox.endpoint], { checkReplies: true });
  const sdk = { kind: 'client', environment: 'development' } as const;
  for (const token of [everything, limited]) await gateway.givenToken({ ...sdk, token });
  await gateway.givenToken({ ...sdk, token: north, projects: ['north'] });
  await eventually(async () => expect((await send('/api/client/features')).status).toBe(200));
});

interface PollResponse {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly names: readonly string[];
  readonly body: Buffer;
}

const send = (path: string, headers: Record<string, string> = {}): Promise<PollResponse> =>
  new Promise((resolve, reject) => {
    get(`${gateway.url}${path}`, { headers: { authorization: everything, ...headers }, agent: false }, (response) => {
      const { statusCode: status, headers: received, rawHeaders } = response;
      const names = rawHeaders.filter((_, nth) => nth % 2 === 0);
      buffer(response).then((body) => resolve({ status, headers: received, names, body }), reject);
    }).once('error', reject);
  });
/** Routes set the id of the request before all other headers, and responses that were not routed after them. */
const isRouted = ({ names }: PollResponse): boolean => names[0] === 'x-request-id';
/** The same request by way of the routes, which take paths with a slash at the end as well. */
const sendRouted = (path: string, headers: Record<string, string> = {}): Promise<PollResponse> => {
  const [before = '', search] = path.split('?');
  return send(`${before}/${search === undefined ? '' : `?${search}`}`, headers);
};
const comparable = ({ status, headers, body }: PollResponse) => {
  const {
    'x-request-id': id,
    date,
    ratelimit,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': reset,
    ...others
  } = headers;
  expect([typeof id, typeof date, typeof ratelimit, typeof reset]).toEqual(['string', 'string', 'string', 'string']);
  expect(Number(remaining)).toBeGreaterThan(0);
  return { status, headers: { ...others, vary: others.vary?.split(', ').sort() }, body: body.toString('base64') };
};

describe('a poll of an SDK that gets its response without being routed', () => {
  it.each([
    ['everything', '/api/client/features', {}],
    ['everything, compressed', '/api/client/features', { 'accept-encoding': 'gzip, br' }],
    ['some of it', '/api/client/features?namePrefix=flag-1&project=default', { 'unleash-client-spec': '5.2.0' }],
    ['one feature', '/api/client/features/in-north', {}],
    ['a delta from a revision', '/api/client/delta', { 'if-none-match': '"300"', 'accept-encoding': 'gzip' }],
    ['a hydration', '/api/client/delta', {}],
    ['nothing new', '/api/client/delta', { 'if-none-match': '"405"' }],
    ['an id for the request', '/api/client/features', { 'if-none-match': '*', 'x-request-id': 'mine' }],
    ['everything again, for a tag of something else', '/api/client/features', { 'if-none-match': '"other"' }],
  ])('gets what the route sends: %s', async (_, path, headers) => {
    // The first request looks the token up, and is routed.
    const preRouted = await eventually(async () => {
      await send(path, headers);
      const [unrouted, routed] = [await send(path, headers), await sendRouted(path, headers)];
      expect([isRouted(unrouted), isRouted(routed)]).toEqual([false, true]);
      expect(comparable(unrouted)).toEqual(comparable(routed));
      return unrouted;
    });
    expect(preRouted.headers['strict-transport-security']).toBe('max-age=31536000');
    if ('x-request-id' in headers) expect(preRouted.headers['x-request-id']).toBe('mine');
  });

  it('gets the flags of its own token, and each change with the next poll', async () => {
    const namesFor = async (token: string) => {
      const { body } = await send('/api/client/features', { authorization: token, 'accept-encoding': 'gzip' });
      const text = body[0] === 0x1f ? gunzipSync(body) : body;
      return (JSON.parse(text.toString()) as { features: { name: string }[] }).features.map(({ name }) => name);
    };
    await namesFor(north);
    expect(await namesFor(north)).toEqual(['in-north']);
    expect((await namesFor(everything)).length).toBe(large + 1);
    outbox.write(featureRow('later', { project: 'north' }));
    expect(await namesFor(north)).toEqual(['in-north', 'later']);
    outbox.write({ entity: 'feature', id: 'later', state: { name: 'later', project: 'north', archived: true } });
    expect(await namesFor(north)).toEqual(['in-north']);
  });

  it.each([
    ['without a key', '/api/client/features', { authorization: '' }, 401],
    ['with a wrong key', '/api/client/features', { authorization: secret('*', 9) }, 401],
    ['with a query that does not fit', '/api/client/features?tag=nonsense', {}, 400],
    ['with a condition that does not hold', '/api/client/features', { 'if-match': '"other"' }, 412],
    ['with a malformed condition', '/api/client/features', { 'if-none-match': 'unquoted' }, 400],
    ['for an unknown feature', '/api/client/features/nowhere', {}, 404],
    ['with a URL that is too long', `/api/client/features?namePrefix=${'x'.repeat(9_000)}`, {}, 414],
  ])('is left to the route, which refuses it, %s', async (_, path, headers, status) => {
    await send('/api/client/features');
    const answer = await send(path, headers);
    expect([answer.status, isRouted(answer)]).toEqual([status, true]);
  });

  it('is refused as soon as its token is deleted', async () => {
    const authorization = secret('*', 4);
    await gateway.givenToken({ token: authorization, kind: 'client', environment: 'development' });
    const poll = () => send('/api/client/features', { authorization, 'if-none-match': '*' });
    // Each new token empties the cache of tokens, as soon as PostgreSQL has notified the gateway.
    await eventually(async () => {
      const preRouted = await poll();
      expect([preRouted.status, isRouted(preRouted)]).toEqual([304, false]);
    });
    const deleted = await gateway.send(`/api/admin/api-tokens/${encodeURIComponent(authorization)}`, {
      method: 'DELETE',
    });
    expect([deleted.status, (await poll()).status]).toEqual([200, 401]);
  });

  it('gets its response on each of many connections that send it concurrently', async () => {
    await send('/api/client/features', { 'if-none-match': '*' });
    const polls = Array.from({ length: 600 }, () =>
      send('/api/client/delta', { 'if-none-match': '"1"', authorization: north }),
    );
    const statuses = (await Promise.all(polls)).map(({ status }) => status);
    // Beyond GATEWAY_MAX_CONCURRENT_REQUESTS_PER_CLIENT a token gets 429, and other tokens are answered.
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(100);
    expect((await send('/api/client/features', { 'if-none-match': '*' })).status).toBe(304);
  });

  it('is logged and measured as the route would', async () => {
    await send('/api/client/features', { 'if-none-match': '*' });
    await send('/api/client/features', { 'if-none-match': '*', 'x-request-id': 'logged' });
    await eventually(() => {
      const line = gateway.lines.find(({ requestId }) => requestId === 'logged');
      expect(line).toMatchObject({ method: 'GET', route: '/api/client/features', status: 304, outcome: 'ok' });
      return Promise.resolve();
    });
  });

  it('loses its connection when it reads nothing while others get responses', async () => {
    await send('/api/client/features', { authorization: limited });
    // Two answers of more than a MiB each, and more of them than the buffers of the operating system hold.
    const lazy = ['', '?namePrefix=flag'].map((search) => {
      const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
      const head = `GET /api/client/features${search} HTTP/1.1\r\nhost: bunting\r\nauthorization: ${limited}\r\n\r\n`;
      socket.pause().write(head.repeat(25));
      return socket;
    });
    await eventually(async () => {
      expect((await send('/api/client/features', { 'if-none-match': '*' })).status).toBe(304);
      const ended = gateway.lines.filter(
        ({ route, outcome }) => route === '/api/client/features' && outcome === 'aborted',
      );
      expect(ended.length).toBeGreaterThan(0);
    });
    for (const socket of lazy) socket.destroy();
  });
});

it('a poll whose client leaves while it waits for the newest flags frees its place', async () => {
  const rows = deliveryOutbox();
  rows.write(...givenRows('default'), featureRow('large', { description: 'x'.repeat(3_000) }));
  let isHolding = false;
  const held: (() => void)[] = [];
  const endpoint: Endpoint = {
    ...rows.endpoint,
    handle: async (request) => {
      if (isHolding) await new Promise<void>((resolve) => held.push(resolve));
      return rows.endpoint.handle(request);
    },
  };
  const narrow = await startGateway({
    environment: {
      GATEWAY_TOKEN_CACHE_TTL_MS: '5000',
      GATEWAY_MAX_CONCURRENT_REQUESTS: '1',
      GATEWAY_MAX_CONCURRENT_REQUESTS_PER_CLIENT: '1',
    },
  });
  try {
    await narrow.behind([endpoint]);
    await narrow.givenToken({ kind: 'client', environment: 'development', token: everything });
    const path = '/api/client/features/large';
    const poll = async () => (await narrow.send(path, { key: everything })).status;
    await eventually(async () => expect(await poll()).toBe(200));
    await poll();
    isHolding = true;
    const accepted: Socket[] = [];
    const onAccepted = (message: unknown): void => void accepted.push((message as { readonly socket: Socket }).socket);
    subscribe('net.server.socket', onAccepted);
    const socket = connect(narrow.port, '127.0.0.1').on('error', () => undefined);
    const head = `GET ${path} HTTP/1.1\r\nhost: bunting\r\nauthorization: ${everything}\r\n`;
    socket.write(`${head}accept-encoding: gzip\r\n\r\n`);
    // What is held first may be the gateway's own read of the newest flags.
    const ofGateway = await eventually(() => {
      const found = accepted.find(({ remotePort }) => remotePort === socket.localPort);
      if (found === undefined || held.length === 0) throw new Error('the gateway holds no poll of the connection');
      return found;
    });
    unsubscribe('net.server.socket', onAccepted);
    const closed = once(ofGateway, 'close');
    socket.destroy();
    await closed;
    isHolding = false;
    for (const release of held.splice(0)) release();
    await eventually(() => expect(narrow.lines).toContainEqual(expect.objectContaining({ outcome: 'aborted' })));
    expect(await poll()).toBe(200);
    expect((await narrow.send('/health/ready')).status).toBe(200);
    expect((await narrow.send('/health/ready')).status).toBe(200);
  } finally {
    await narrow.stop();
  }
});
