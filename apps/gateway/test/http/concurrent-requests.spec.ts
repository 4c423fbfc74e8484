import { implement } from '@bunting/bus';
import { CreateFeature, ReportFrontendMetrics, GetFeature } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connect, type Socket } from 'node:net';
import { fakeProjectEndpoints, refusalOf, aFeature } from '../access-api.ts';
import { rawRequest } from '../connections.ts';
import { adminToken, startedGateway } from '../started-gateway.ts';

const featurePath = '/api/admin/projects/default/features/one';
const featuresPath = '/api/admin/projects/default/features';
const json = { 'content-type': 'application/json' };
const metrics = JSON.stringify({
  appName: 'page',
  bucket: { start: '2026-11-22T10:00:00.000Z', stop: '2026-11-22T10:01:00.000Z', toggles: {} },
});
const frontendKeys = [0, 1, 2, 3].map((nth) => `*:development.frontend-key-of-a-page-${nth}`);
const adminTokens = Array.from({ length: 6 }, (_, nth) => `*:*.an-admin-token-number-${nth}`);
const userKeys = [0, 1].map((nth) => `user:a-key-of-one-viewer-${nth}`);

/** releases the responses to the calls that have reached a service */
let held: (() => void)[];
let isHolding = false;
let sockets: Socket[] = [];

const hold = () => (isHolding ? new Promise<void>((resolve) => held.push(resolve)) : Promise.resolve());

const gateway = startedGateway({
  environment: {
    GATEWAY_MAX_CONCURRENT_REQUESTS: '8',
    GATEWAY_MAX_CONCURRENT_REQUESTS_PER_CLIENT: '3',
    GATEWAY_MAX_INCOMING_REQUESTS: '12',
    GATEWAY_MAX_INCOMING_REQUESTS_PER_CLIENT: '2',
    GATEWAY_MAX_INCOMING_REQUESTS_PER_ADDRESS: '4',
    GATEWAY_TRUSTED_PROXIES: '127.0.0.0/8',
  },
});
beforeAll(async () => {
  await gateway.behind([
    ...fakeProjectEndpoints(['default']),
    implement(GetFeature, async () => {
      await hold();
      return aFeature('one', 'default') as never;
    }),
    implement(ReportFrontendMetrics, async () => {
      await hold();
      return 'OK';
    }),
    implement(CreateFeature, async () => aFeature('one', 'default')),
  ]);
  for (const token of frontendKeys) await gateway.givenToken({ token, kind: 'frontend', environment: 'development' });
  for (const token of adminTokens) await gateway.givenToken({ token, kind: 'admin' });
  await gateway.database.transaction(({ query }) =>
    query("insert into api_user (id, username, root_role_id) overriding system value values (900, 'of-two-keys', 3)"),
  );
  for (const token of userKeys) await gateway.givenToken({ token, userId: 900 });
});

beforeEach(() => {
  held = [];
  isHolding = false;
});
afterEach(async () => {
  for (const release of held) release();
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await eventually(async () => expect((await post()).status).toBe(201));
});

/** Sends a part of a request on a connection of its own. */
const sendHalf = (key: string, address = '198.51.100.1'): { received: () => string } => {
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  const headers = { ...json, authorization: key, 'content-length': '9', 'x-forwarded-for': address };
  socket.write(rawRequest('POST', key.startsWith('*:*.') ? featuresPath : '/api/frontend', headers, '{'));
  return { received: () => received };
};
const post = (address = '198.51.100.1', key = adminToken) =>
  gateway.send(featuresPath, {
    method: 'POST',
    key,
    headers: { ...json, 'x-forwarded-for': address },
    body: '{"name":"one"}',
  });
const statusOf = (received: string): number => Number(received.split(' ')[1] ?? 0);
const refusedOf = (halves: readonly { received: () => string }[]): number[] =>
  halves.map(({ received }) => statusOf(received())).filter((status) => status !== 0);

describe('incoming requests', () => {
  it('take no permits from handled requests, however many one token starts from one address', async () => {
    const halves = Array.from({ length: 40 }, () => sendHalf(frontendKeys[0] as string));
    await eventually(() => expect(refusedOf(halves)).toHaveLength(38));
    expect([429, 503]).toEqual(expect.arrayContaining([...new Set(refusedOf(halves))]));
    expect((await gateway.send(featurePath, { headers: { 'x-forwarded-for': '198.51.100.1' } })).status).toBe(200);
    expect((await post()).status).toBe(201);
    await eventually(async () => expect((await gateway.send('/health/ready')).status).toBe(200));
  });

  it('limits incoming requests per address and per IPv6 network, whatever their tokens', async () => {
    for (const [first, second, other] of [
      ['198.51.100.1', '198.51.100.1', '198.51.100.2'],
      ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:2::1'],
    ] as const) {
      const halves = [0, 0, 1, 1].map((nth) => sendHalf(adminTokens[nth] as string, nth === 0 ? first : second));
      halves.push(...[2, 2, 3].map((nth) => sendHalf(adminTokens[nth] as string, first)));
      await eventually(() => expect(refusedOf(halves)).toEqual([429, 429, 429]));
      expect(halves.filter(({ received }) => received().includes('from this address'))).toHaveLength(3);
      const elsewhere = [4, 4].map((nth) => sendHalf(adminTokens[nth] as string, other));
      expect((await post(other)).status).toBe(201);
      expect(refusedOf(elsewhere)).toEqual([]);
      for (const socket of sockets) socket.destroy();
      await eventually(async () => expect((await post(first)).status).toBe(201));
    }
  });

  it('limits incoming requests with frontend tokens to half of the permits', async () => {
    const halves = Array.from({ length: 10 }, (_, nth) =>
      sendHalf(frontendKeys[nth % 4] as string, `203.0.113.${nth}`),
    );
    await eventually(() => expect(refusedOf(halves)).toEqual(Array(4).fill(503)));
    expect((await post()).status).toBe(201);
  });

  it('rejects incoming requests beyond GATEWAY_MAX_INCOMING_REQUESTS and reports the gateway as not ready', async () => {
    const halves = adminTokens.flatMap((key, nth) => [0, 1].map(() => sendHalf(key, `203.0.113.${nth}`)));
    // A request that is sent before all of these have arrived would take the permit of one of them.
    await eventually(async () => expect((await gateway.send('/health/ready')).status).toBe(503));
    expect((await post()).status).toBe(503);
    expect(refusedOf(halves)).toEqual([]);
    expect((await gateway.send(featurePath)).status).toBe(200);
    const ready = await gateway.send('/health/ready');
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ reason: expect.stringContaining('GATEWAY_MAX_INCOMING_REQUESTS') });
    for (const socket of sockets) socket.destroy();
    await eventually(async () => expect((await gateway.send('/health/ready')).status).toBe(200));
  });
});

describe('handled requests', () => {
  const reading = (key: string) => gateway.send(featurePath, { key });

  it('limits the handled requests of one user over all tokens, without affecting other clients', async () => {
    isHolding = true;
    const open = [0, 1, 0].map((nth) => reading(userKeys[nth] as string));
    await eventually(() => expect(held).toHaveLength(3));
    const refused = await reading(userKeys[1] as string);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await refusalOf(refused)).message).toContain('of this key at the same time');
    isHolding = false;
    expect((await reading(adminToken)).status).toBe(200);
    for (const release of held.splice(0)) release();
    expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await reading(userKeys[1] as string)).status).toBe(200);
  });

  it('limits handled requests with frontend tokens to half of the permits, and those of one address to the quota of a client', async () => {
    isHolding = true;
    const evaluate = (nth: number, address: string) =>
      gateway.send('/api/frontend/client/metrics', {
        method: 'POST',
        key: frontendKeys[nth] as string,
        headers: { ...json, 'x-forwarded-for': address },
        body: metrics,
      });
    const open = [0, 1, 2].map((nth) => evaluate(nth, '203.0.113.1'));
    await eventually(() => expect(held).toHaveLength(3));
    expect((await evaluate(3, '203.0.113.1')).status).toBe(429);
    open.push(evaluate(0, '203.0.113.2'));
    await eventually(() => expect(held).toHaveLength(4));
    expect((await evaluate(0, '203.0.113.3')).status).toBe(503);
    isHolding = false;
    expect((await reading(adminToken)).status).toBe(200);
    for (const release of held.splice(0)) release();
    expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('reports the gateway as not ready at GATEWAY_MAX_CONCURRENT_REQUESTS', async () => {
    isHolding = true;
    const open = Array.from({ length: 8 }, (_, nth) => reading(adminTokens[nth % 3] as string));
    await eventually(() => expect(held).toHaveLength(8));
    const ready = await gateway.send('/health/ready');
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ reason: expect.stringContaining('GATEWAY_MAX_CONCURRENT_REQUESTS') });
    expect((await gateway.send('/health/live')).status).toBe(200);
    isHolding = false;
    for (const release of held.splice(0)) release();
    await Promise.all(open);
    await eventually(async () => expect((await gateway.send('/health/ready')).status).toBe(200));
  });
});
