import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@bunting/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { checkEdge, checks } from '../src/check-edge.ts';
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
async function startOffline(
  settings: Readonly<Record<string, string>> = {},
  features: readonly object[] = ['shop', 'bank'].map((project) => ({ ...flag(`flag-of-${project}`), project })),
) {
  const folder = await mkdtemp(path.join(tmpdir(), 'edge-offline-'));
  stops.push(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'features.json');
  const write = (list: readonly object[]) => writeFile(file, JSON.stringify({ version: 2, features: list }));
  await write(features);
  const { url } = await startEdge(stops, {
    OFFLINE: 'true',
    BOOTSTRAP_FILE: file,
    CLIENT_TOKENS: `${wide},${narrow}`,
    FRONTEND_TOKENS: page,
    ...settings,
  });
  return {
    write,
    file,
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

describe('an edge evaluates at the paths of Unleash Edge', () => {
  const constraint = { contextName: 'userId', operator: 'IN', values: ['7'], inverted: false, caseInsensitive: false };
  const features = [
    { ...flag('off'), enabled: false, project: 'shop' },
    { ...flag('seven'), project: 'shop', strategies: [{ name: 'default', constraints: [constraint] }] },
    { ...flag('other'), project: 'bank' },
  ];
  const onFor = async (url: string, context: { userId: string }) => {
    const headers = { authorization: page, 'content-type': 'application/json' };
    const responses = await Promise.all([
      fetch(`${url}?userId=${context.userId}`, { headers }),
      fetch(url, { method: 'POST', headers, body: JSON.stringify({ context }) }),
    ]);
    const [byQuery, byBody] = await Promise.all(responses.map((response) => response.json() as Promise<unknown>));
    expect(byBody).toEqual(byQuery);
    return byQuery;
  };
  const offVariant = { name: 'disabled', enabled: false, feature_enabled: false, featureEnabled: false };

  it.each(['frontend', 'proxy'])('all features of the token at /api/%s/all, also those that are off', async (api) => {
    const { url } = await startOffline({}, features);
    const of = async (userId: string) =>
      (await onFor(`${url}/api/${api}/all`, { userId })) as { toggles: { name: string; enabled: boolean }[] };
    expect((await of('7')).toggles.map(({ name, enabled }) => [name, enabled])).toEqual([
      ['off', false],
      ['seven', true],
    ]);
    expect((await of('8')).toggles[1]).toEqual({
      name: 'seven',
      enabled: false,
      impressionData: false,
      variant: offVariant,
    });
  });

  it('unless they are disabled', async () => {
    const { get } = await startOffline({ DISABLE_ALL_ENDPOINT: 'true' }, features);
    for (const api of ['frontend', 'proxy']) expect((await get(`/api/${api}/all`, page)).status).toBe(404);
    expect((await get('/api/frontend', page)).status).toBe(200);
  });

  it('one feature by its name, and none of another project', async () => {
    const { url, get } = await startOffline({}, features);
    expect(await onFor(`${url}/api/frontend/features/seven`, { userId: '7' })).toMatchObject({
      name: 'seven',
      enabled: true,
    });
    expect(await onFor(`${url}/api/frontend/features/off`, { userId: '7' })).toMatchObject({
      enabled: false,
      variant: offVariant,
    });
    for (const name of ['other', 'unknown', '..%2Fall'])
      expect((await get(`/api/frontend/features/${name}`, page)).status, name).toBe(404);
    expect((await get('/api/frontend/features/seven')).status).toBe(401);
    expect((await get('/api/frontend/features/seven', wide)).status).toBe(403);
  });
});

it('an edge without an origin serves what its file says now, also after it could not be read', async () => {
  const { get, write, file } = await startOffline({ RELOAD_INTERVAL: '1' });
  const names = async () => {
    const { features } = JSON.parse((await get('/api/client/features', wide)).body) as { features: { name: string }[] };
    return features.map(({ name }) => name);
  };
  const serves = (...expected: string[]) => eventually(async () => expect(await names()).toEqual(expected));
  expect(await names()).toEqual(['flag-of-bank', 'flag-of-shop']);
  await write([{ ...flag('later'), project: 'shop' }]);
  await serves('later');
  await writeFile(file, '{"features": [');
  await write([{ ...flag('last'), project: 'bank' }]);
  await serves('last');
});

it('an edge says by a command whether it is healthy and ready', async () => {
  const { url } = await startOffline();
  for (const check of checks) {
    await checkEdge(check, ['--edge-url', `${url}/`], {});
    await checkEdge(check, [], { EDGE_URL: url });
    await expect(checkEdge(check, ['-e', 'http://127.0.0.1:1'], {})).rejects.toThrow('ECONNREFUSED');
    await expect(checkEdge(check, ['-e', `${url}/elsewhere`], {})).rejects.toThrow('answers 404');
  }
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
