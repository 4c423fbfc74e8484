import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { flag } from './simulated-origin.ts';
import { startEdge } from './started-edge.ts';

const wide = '*:development.wide';
const narrow = 'shop:development.narrow';
const page = 'shop:development.page';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** An edge that serves a file with a flag of each of the projects `shop` and `bank`. */
async function startOffline(settings: Readonly<Record<string, string>> = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'edge-offline-'));
  stops.push(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'features.json');
  const features = ['shop', 'bank'].map((project) => ({ ...flag(`flag-of-${project}`), project }));
  await writeFile(file, JSON.stringify({ version: 2, features }));
  const { url } = await startEdge(stops, {
    OFFLINE: 'true',
    BOOTSTRAP_FILE: file,
    CLIENT_TOKENS: `${wide},${narrow}`,
    FRONTEND_TOKENS: page,
    ...settings,
  });
  return {
    get: async (route: string, authorization?: string) => {
      const response = await fetch(`${url}${route}`, { headers: authorization === undefined ? {} : { authorization } });
      return { status: response.status, body: await response.text() };
    },
    url,
  };
}

describe('an edge shows operators the flags', () => {
  const route = '/internal-backstage/features';

  it('of the projects of the client token that they send along', async () => {
    const { get } = await startOffline();
    const seen = await get(route, narrow);
    expect(seen).toEqual(await get('/api/client/features', narrow));
    expect(seen).toMatchObject({ status: 200, body: expect.stringContaining('flag-of-shop') as string });
    expect(seen.body).not.toContain('flag-of-bank');
  });

  it.each([
    ['a frontend token, which pages publish', page, 403],
    ['no token', undefined, 401],
    ['an unknown token', '*:development.unknown', 401],
  ])('but not with %s', async (_, token, status) => {
    const { get } = await startOffline();
    const refused = await get(route, token);
    expect(refused.status).toBe(status);
    expect(refused.body).not.toContain('flag-of');
  });
});

describe('an edge without an origin', () => {
  it('does not start with tokens of which it cannot tell whether pages publish them', async () => {
    await expect(startOffline({ TOKENS: page })).rejects.toThrow('CLIENT_TOKENS or FRONTEND_TOKENS');
  });

  it('shows the rules of flags to no token that is named as a frontend token', async () => {
    const { get } = await startOffline({ CLIENT_TOKENS: `${wide},${page}` });
    expect((await get('/api/frontend', page)).status).toBe(200);
    expect((await get('/api/client/features', page)).status).toBe(403);
  });
});

it('an edge lets pages send tokens in its own header', async () => {
  const { url } = await startOffline({ TOKEN_HEADER: 'X-Flags-Token' });
  const preflight = await fetch(`${url}/api/frontend`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://shop.example.org',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'x-flags-token',
    },
  });
  expect(preflight.headers.get('access-control-allow-headers')?.split(', ')).toContain('X-Flags-Token');
  expect((await fetch(`${url}/api/frontend`, { headers: { 'x-flags-token': page } })).status).toBe(200);
});
