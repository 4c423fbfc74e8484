import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawRequest, sendRaw } from '../connections.ts';
import { servicesBehind } from '../access-api.ts';
import { adminToken, type StartedGateway, startGateway } from '../started-gateway.ts';

const featurePath = '/api/admin/projects/default/features/one';
const ours = 'https://flags.example.org';

let closed: StartedGateway;
let open: StartedGateway;

beforeAll(async () => {
  closed = await startGateway();
  open = await startGateway({
    environment: { GATEWAY_CORS_ORIGINS: `${ours}, http://localhost:3000`, GATEWAY_BEHIND_TLS: 'true' },
  });
  for (const gateway of [closed, open]) await gateway.behind(servicesBehind().endpoints);
});
afterAll(async () => {
  await closed.stop();
  await open.stop();
});

describe('every response', () => {
  const plain = { authorization: adminToken };
  it.each<[string, string, number]>([
    ['of an operation', rawRequest('GET', featurePath, plain), 200],
    ['without a key', rawRequest('GET', featurePath), 401],
    ['about nothing', rawRequest('GET', '/nosuch'), 404],
    ['to an address that cannot be read', rawRequest('GET', '/%zz'), 400],
    ['to an address that is too long', rawRequest('GET', `/${'x'.repeat(9_000)}`), 414],
    ['to headers that are too large', rawRequest('GET', '/', { 'x-much': 'x'.repeat(20_000) }), 431],
    ['to what is no HTTP', 'NONSENSE\r\n\r\n', 400],
    ['to CONNECT', 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n', 404],
    ['of a defect', rawRequest('GET', '/api/admin/projects/default/features/broken', plain), 500],
    ['about health', rawRequest('GET', '/health'), 200],
    ['of the front door', rawRequest('GET', '/'), 302],
    ['of the page', rawRequest('GET', '/docs'), 200],
    ['of what the page loads', rawRequest('GET', '/docs/assets/swagger-ui.css'), 200],
    ['of the measurements', rawRequest('GET', '/internal-backstage/prometheus'), 200],
  ])('%s carries the security headers', async (_what, request, status) => {
    const answer = await sendRaw(closed.port, request);
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': expect.stringMatching(/^default-src '(none|self)';.*frame-ancestors 'none'/),
    });
    expect(Object.keys(answer.headers).filter((name) => /powered|^server$|strict-transport/.test(name))).toEqual([]);
    if (!request.includes('/docs/assets')) expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('carries Strict-Transport-Security with GATEWAY_BEHIND_TLS only', async () => {
    for (const path of [featurePath, '/nosuch', '/docs']) {
      expect((await open.send(path)).headers.get('strict-transport-security')).toBe('max-age=31536000');
    }
  });
});

describe('a page of another origin', () => {
  const request = (gateway: StartedGateway, origin: string, init: RequestInit = {}) =>
    gateway.send(featurePath, { ...init, headers: { origin, ...(init.headers as Record<string, string>) } });
  const preflight = (gateway: StartedGateway, origin: string) =>
    sendRaw(
      gateway.port,
      rawRequest('OPTIONS', featurePath, {
        origin,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization,content-type',
      }),
    );
  const corsHeadersIn = (headers: Iterable<[string, string]>): string[] =>
    [...headers].map(([name]) => name).filter((name) => name.startsWith('access-control'));

  it.each([ours, 'null', 'https://evil.example.org'])('gets no CORS headers by default: %s', async (origin) => {
    const response = await request(closed, origin);
    expect([response.status, corsHeadersIn(response.headers)]).toEqual([200, []]);
    const before = await preflight(closed, origin);
    expect([before.status, corsHeadersIn(Object.entries(before.headers))]).toEqual([401, []]);
  });

  it.each(['null', 'https://evil.example.org', `${ours}.evil.org`, 'http://flags.example.org', `${ours}:8443`, '*'])(
    'gets no CORS headers when only another origin is listed: %s',
    async (origin) => {
      const response = await request(open, origin);
      expect([corsHeadersIn(response.headers), response.headers.get('vary')]).toEqual([[], 'Origin']);
      const before = await preflight(open, origin);
      expect([before.status, corsHeadersIn(Object.entries(before.headers))]).toEqual([401, []]);
    },
  );

  it.each([ours, 'http://localhost:3000'])('may call the API if its origin is listed: %s', async (origin) => {
    const before = await preflight(open, origin);
    expect([before.status, before.body]).toEqual([204, '']);
    expect(before.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': expect.stringContaining('PATCH'),
      'access-control-allow-headers': expect.stringMatching(
        /Authorization.*Content-Type.*Idempotency-Key.*If-Match.*, \*$/,
      ),
      'access-control-max-age': '600',
      vary: 'Origin',
    });
    expect(before.headers['access-control-allow-credentials']).toBeUndefined();
    for (const response of [await request(open, origin), await open.send('/api/nosuch', { headers: { origin } })]) {
      expect(response.headers.get('access-control-allow-origin')).toBe(origin);
      expect(response.headers.get('access-control-expose-headers')).toContain('ETag');
      expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  const frontend = '/api/frontend?userId=7';

  it('may call the frontend API from any origin unless origins are configured', async () => {
    const wherever = 'https://shop.example.org';
    for (const gateway of [closed, open]) {
      for (const path of [frontend, '/api/frontend/client/metrics']) {
        const answer = await gateway.send(path, { headers: { origin: wherever } });
        expect(answer.headers.get('access-control-allow-origin')).toBe('*');
        expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      }
      for (const path of ['/api/client/features', '/api/frontends', '/api/admin/frontend'])
        expect(corsHeadersIn((await gateway.send(path, { headers: { origin: wherever } })).headers)).toEqual([]);
    }
    const listed = await startGateway({
      environment: { GATEWAY_CORS_ORIGINS: ours, GATEWAY_FRONTEND_CORS_ORIGINS: wherever },
    });
    const originFor = async (path: string, origin: string) =>
      (await listed.send(path, { headers: { origin } })).headers.get('access-control-allow-origin');
    expect(await originFor(frontend, wherever)).toBe(wherever);
    expect(await originFor(frontend, ours)).toBe(ours);
    expect(await originFor(frontend, 'https://evil.example.org')).toBeNull();
    expect(await originFor(featurePath, wherever)).toBeNull();
    await listed.stop();
    await expect(startGateway({ environment: { GATEWAY_FRONTEND_CORS_ORIGINS: `${ours}, *` } })).rejects.toThrow(
      /^GATEWAY_FRONTEND_CORS_ORIGINS names \*, which is no origin/,
    );
  });

  it('is rejected at start when a configured origin is malformed', async () => {
    for (const list of ['*', `${ours}/`, `${ours},flags.example.org`, 'null']) {
      await expect(startGateway({ environment: { GATEWAY_CORS_ORIGINS: list } })).rejects.toThrow(
        /^GATEWAY_CORS_ORIGINS names .*, which is no origin; write it like https:\/\/flags\.example\.org\.$/,
      );
    }
  });
});
