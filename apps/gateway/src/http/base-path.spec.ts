import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedGateway, startGateway } from '../../test/started-gateway.ts';
import { basePathOf, pathOfPage } from './base-path.ts';

describe('the base path', () => {
  it.each([
    ['', ''],
    ['https://example.com', ''],
    ['https://example.com/', ''],
    ['https://example.com/tools/bunting/', '/tools/bunting'],
  ])('of the public URL %j is %j', (GATEWAY_PUBLIC_URL, basePath) => {
    expect(basePathOf({ GATEWAY_PUBLIC_URL })).toBe(basePath);
  });

  it.each(['/api', '/api/admin', '/docs/', '/a"b', '/a%20b', '/a//b', '/%61pi'])(
    'is refused at the start: %s',
    (path) => {
      expect(() => basePathOf({ GATEWAY_PUBLIC_URL: `https://example.com${path}` })).toThrow('GATEWAY_PUBLIC_URL');
    },
  );
});

describe('the page after a sign-in', () => {
  it.each([
    ['/projects/default?tab=1#top', '', '/projects/default?tab=1#top'],
    ['/projects/default?tab=1#top', '/bunting', '/bunting/projects/default?tab=1#top'],
    ['/bunting/projects/default', '/bunting', '/bunting/projects/default'],
    ['/bunting', '/bunting', '/bunting'],
    ['/buntings', '/bunting', '/bunting/buntings'],
    ['/bunting/../other', '/bunting', '/bunting/other'],
    ['//evil.example.org', '/bunting', '/bunting/'],
    [null, '/bunting', '/bunting/'],
  ])('of %j with the base path %j is %s', (requested, basePath, page) => {
    expect(pathOfPage(requested, basePath)).toBe(page);
  });
});

describe('a gateway whose public URL has a path', () => {
  const basePath = '/tools/bunting';
  const navigation = { accept: 'text/html' };
  let folder: string;
  let gateway: StartedGateway;
  const get = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
    gateway.send(url, { key: null, headers });

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'bunting-console-'));
    mkdirSync(path.join(folder, 'console'));
    writeFileSync(
      path.join(folder, 'index.html'),
      '<!doctype html><html data-base-path=""><script src="/console/main-a1b2.js"></script></html>',
    );
    writeFileSync(path.join(folder, 'console', 'main-a1b2.js'), 'export {};');
    gateway = await startGateway({
      environment: { GATEWAY_CONSOLE_DIR: folder, GATEWAY_PUBLIC_URL: `https://example.com${basePath}/` },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    '/api/admin/projects',
    '/ofrep/v1/evaluate/flags',
    '/health',
    '/console/main-a1b2.js',
    '/docs/openapi.json',
  ])('serves %s below it, and without it for proxies that take it away', async (url) => {
    const [below, without] = [await get(`${basePath}${url}`), await get(url)];
    expect(below.status).toBe(without.status);
    expect([200, 401, 404, 405]).toContain(below.status);
    expect(below.headers.get('content-type')).toBe(without.headers.get('content-type'));
  });

  it.each([basePath, `${basePath}/`, `${basePath}?q=1`, `${basePath}/flags`, '/', '/flags'])(
    'serves at %s the page of the console, which names it',
    async (url) => {
      const response = await get(url, navigation);
      expect([response.status, await response.text()]).toEqual([
        200,
        `<!doctype html><html data-base-path="${basePath}"><script src="${basePath}/console/main-a1b2.js"></script></html>`,
      ]);
      const known = { 'if-none-match': response.headers.get('etag') ?? '', 'cache-control': 'max-age=0' };
      expect((await get(url, { ...navigation, ...known })).status).toBe(304);
    },
  );

  it('leads below it: to the documentation and its parts, and home after signing out', async () => {
    expect((await get(`${basePath}/`)).headers.get('location')).toBe(`${basePath}/docs`);
    const page = await (await get(`${basePath}/docs`)).text();
    const addresses = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string);
    expect(addresses).toHaveLength(4);
    for (const address of addresses) {
      expect(address).toMatch(new RegExp(`^${basePath}/docs/`));
      expect([address, (await get(address)).status]).toEqual([address, 200]);
    }
    const { servers } = (await (await get('/docs/openapi.json')).json()) as { servers: unknown };
    expect(servers).toEqual([{ url: basePath }]);
    const signedOut = await get(`${basePath}/logout`);
    expect(signedOut.headers.get('location')).toBe(`${basePath}/`);
    // The storage of the origin is that of its other applications, too.
    expect(signedOut.headers.get('clear-site-data')).toBeNull();
  });
});
