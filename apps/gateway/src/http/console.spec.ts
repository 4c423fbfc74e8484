import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { type StartedGateway, startGateway } from '../../test/started-gateway.ts';

const page = '<!doctype html><title>Bunting</title>';
const script = 'export const answer = 42;'.repeat(100);
const navigation = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };

let folder: string;
let gateway: StartedGateway;
const get = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
  gateway.send(url, { key: null, headers });

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'bunting-console-'));
  mkdirSync(path.join(folder, 'console'));
  writeFileSync(path.join(folder, 'index.html'), page);
  writeFileSync(path.join(folder, 'console', 'main-a1b2.js'), script);
  writeFileSync(path.join(folder, 'console', 'main-a1b2.js.br'), brotliCompressSync(script));
  writeFileSync(path.join(folder, 'console', 'main-a1b2.js.gz'), gzipSync(script));
  gateway = await startGateway({ environment: { GATEWAY_CONSOLE_DIR: folder } });
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('a browser that navigates', () => {
  it.each(['/', '/flags', '/projects/default/features/checkout', '/apis', '/a%2Fb', '/a.b'])(
    'gets the page of the console at %s, to be checked again each time',
    async (url) => {
      const response = await get(url, navigation);
      expect([response.status, await response.text()]).toEqual([200, page]);
      expect(response.headers.get('content-type')).toMatch(/^text\/html/);
      expect(response.headers.get('cache-control')).toBe('no-cache');
      // `fetch` adds `no-cache` to a conditional request that has no directive of its own.
      const known = { 'if-none-match': response.headers.get('etag') ?? '', 'cache-control': 'max-age=0' };
      const again = await get(url, { ...navigation, ...known });
      expect(again.status).toBe(304);
    },
  );

  it('may load only from its own origin, runs no inline script and is not framed', async () => {
    const policy = (await get('/', navigation)).headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self' 'sha256-/);
    expect(policy).toMatch(/frame-ancestors 'none'/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  it.each([
    '/auth/unknown',
    '/docs/unknown',
    '/health/unknown',
    '/scim/v1/Users',
    '/edge/unknown',
    '/ofrep/v2/unknown',
    '/invite/unknown/unknown',
    '/console/unknown.js',
    '/console/',
    '//console//x',
    '/%63onsole/x',
    '/metrics',
  ])('gets the JSON error of an unknown path at %s, which is no page', async (url) => {
    const response = await get(url, navigation);
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8']);
    expect(await response.json()).toMatchObject({ name: 'NotFoundError' });
  });

  it('needs a key below /api, as every client', async () => {
    expect((await get('/api/unknown', navigation)).status).toBe(401);
  });
});

describe('a client that is no browser', () => {
  it('gets the JSON error of an unknown path, and the documentation at /', async () => {
    const unknown = await get('/flags', { accept: 'application/json' });
    expect([unknown.status, unknown.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8']);
    const root = await get('/');
    expect([root.status, root.headers.get('location')]).toEqual([302, '/docs']);
    expect(await root.text()).toBe('This is Bunting. Its console is for browsers; its API is described at /docs.\n');
    expect((await gateway.send('/flags', { method: 'POST', key: null, headers: navigation })).status).toBe(404);
  });
});

describe('a file of the console', () => {
  it.each(['br', 'gzip', 'identity'])('is sent in the encoding %s, for browsers to cache forever', async (encoding) => {
    const response = await get('/console/main-a1b2.js', { 'accept-encoding': encoding });
    expect(response.headers.get('content-encoding') ?? 'identity').toBe(encoding);
    expect(await response.text()).toBe(script);
    expect(response.headers.get('content-type')).toMatch(/javascript/);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('vary')).toMatch(/accept-encoding/i);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it.each(['/console/../index.html', '/console/..%2findex.html', '/console/%2e%2e/index.html', '/console/%00'])(
    'is none outside of its folder: %s',
    async (url) => {
      expect([400, 403, 404]).toContain((await get(url)).status);
    },
  );
});

describe('a gateway without a built console', () => {
  it('responds as an API, and says in one line of its log how to build the console', async () => {
    const bare = await startGateway({ environment: { GATEWAY_CONSOLE_DIR: path.join(folder, 'absent') } });
    try {
      const root = await bare.send('/', { key: null, headers: navigation });
      expect([root.status, root.headers.get('location')]).toEqual([302, '/docs']);
      expect((await bare.send('/flags', { key: null, headers: navigation })).status).toBe(404);
      expect(bare.lines.filter(({ msg }) => /No console is served/.test(String(msg)))).toHaveLength(1);
      expect(bare.logged()).toContain('npm run build -w @bunting/console');
    } finally {
      await bare.stop();
    }
  });
});
