import { unavailable } from '@bunting/contracts';
import { eventually, reservePort } from '@bunting/testing';
import fastify from 'fastify';
import { Gauge, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { mountMetrics } from '@bunting/http';
import { refusalOf } from '../../test/access-api.ts';
import { type StartedGateway, startGateway } from '../../test/started-gateway.ts';
import { readinessPolicy } from './health.ts';

const schema = { needs: 1, has: 1, newer: [] };
const fine = async () => undefined;

const aGateway = () => {
  const state = {
    bus: () => undefined as void,
    readSchema: async () => schema,
    requireAccepting: fine as () => Promise<void>,
    requireLoaded: fine as () => Promise<void>,
  };
  const metrics = new Registry();
  const ready = readinessPolicy({
    bus: { ready: () => state.bus() },
    readSchema: () => state.readSchema(),
    metrics,
    requireAccepting: () => state.requireAccepting(),
    requireLoaded: () => state.requireLoaded(),
  });
  return { state, metrics, ready };
};
const fail = (message: string) => async () => Promise.reject(new Error(message));
const cutOff = async () => Promise.reject(unavailable('The database cannot be reached.'));
const busIsAway = () => {
  throw new Error('The message bus is disconnected.');
};

describe('a gateway', () => {
  it('is not ready before its database and the bus have been available', async () => {
    const { state, ready } = aGateway();
    state.readSchema = cutOff;
    await expect(ready()).rejects.toThrow('The database cannot be reached.');
    Object.assign(state, { readSchema: async () => schema, bus: busIsAway });
    await eventually(() => expect(ready()).rejects.toThrow('The message bus is disconnected.'));
    state.bus = () => undefined;
    await eventually(async () => expect(await ready()).toEqual({ schema }));
  });

  it('stays ready in an outage of its database and the bus, and names them in readiness and metrics', async () => {
    const { state, metrics, ready } = aGateway();
    expect(await ready()).toEqual({ schema });
    Object.assign(state, { readSchema: cutOff, bus: busIsAway });
    await eventually(async () => expect(await ready()).toEqual({ unavailable: ['bus', 'database'] }));
    const text = await metrics.metrics();
    for (const dependency of ['bus', 'database'])
      expect(text).toContain(`bunting_gateway_dependency_available{dependency="${dependency}"} 0`);
  });

  it('stays ready while its database does not respond at all', async () => {
    const { state, ready } = aGateway();
    await ready();
    state.readSchema = () => new Promise(() => undefined);
    await eventually(async () => expect(await ready()).toEqual({ unavailable: ['database'] }));
  });

  it.each([
    ['it drains or has no capacity', { requireAccepting: fail('The gateway is stopping.') }],
    ['its memory is not loaded', { requireLoaded: fail('The features are not loaded yet.') }],
    ['the schema does not fit', { readSchema: fail('The schema is newer.') }],
  ])('is not ready while %s, also once it has been ready', async (_, fault) => {
    const { state, ready } = aGateway();
    await ready();
    Object.assign(state, fault);
    await eventually(() => expect(ready()).rejects.toThrow(/^The (?:gateway|features|schema)/));
  });
});

const page = '/internal-backstage/prometheus';
const withGateway = async (
  environment: Readonly<Record<string, string>>,
  work: (gateway: StartedGateway) => Promise<void>,
): Promise<void> => {
  const gateway = await startGateway({ environment });
  try {
    await work(gateway);
  } finally {
    await gateway.stop();
  }
};

describe('the metrics', () => {
  it('are rendered at most once in a second', async () => {
    let collected = 0;
    const registry = new Registry();
    new Gauge({
      name: 'counted',
      help: 'how often it was collected',
      registers: [registry],
      collect: () => void collected++,
    });
    const app = fastify();
    mountMetrics(app, registry, async () => undefined);
    const request = performance.now();
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.inject(page)));
    expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`)).size).toBe(1);
    expect(collected).toBeLessThanOrEqual(1 + Math.floor((performance.now() - request) / 1_000));
    await app.close();
  });

  it('are served on GATEWAY_OPS_PORT only, if it is set', async () => {
    const port = await reservePort();
    await withGateway({ GATEWAY_OPS_PORT: String(port) }, async (gateway) => {
      expect((await gateway.send(page)).status).toBe(404);
      const response = await fetch(`http://127.0.0.1:${port}/metrics`);
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('http_request_duration')]);
    });
    await withGateway({}, async (gateway) => expect((await gateway.send(page, { key: null })).status).toBe(200));
  });
});

describe('a page without authentication', () => {
  it.each([page, '/docs/openapi.json'])('is rate limited per address, apart from the API: %s', (path) =>
    withGateway({ GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: '2' }, async (gateway) => {
      const send = () => gateway.send(path, { key: null });
      expect([(await send()).status, (await send()).status]).toEqual([200, 200]);
      const refused = await send();
      expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
      expect((await refusalOf(refused)).name).toBe('RateLimitError');
      expect((await gateway.send('/api/admin/user')).status).toBe(200);
      expect((await gateway.send('/api/admin/user', { key: 'a guess' })).status).toBe(401);
      expect((await gateway.send('/health')).status).toBe(200);
    }),
  );

  it('responds 304 to a client that has the OpenAPI document', () =>
    withGateway({}, async (gateway) => {
      const first = await gateway.send('/docs/openapi.json', { key: null });
      const tag = first.headers.get('etag') ?? '';
      expect(first.headers.get('cache-control')).toBe('no-cache');
      const again = await gateway.send('/docs/openapi.json', { key: null, headers: { 'if-none-match': tag } });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }));
});
