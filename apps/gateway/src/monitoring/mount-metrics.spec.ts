import { reservePort } from '@bunting/testing';
import { describe, expect, it } from 'vitest';
import fastify from 'fastify';
import { Gauge, Registry } from 'prom-client';
import { refusalOf } from '../../test/refusal-of.ts';
import { type StartedGateway, startGateway } from '../../test/started-gateway.ts';
import { mountMetrics } from '../http/health.ts';

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
