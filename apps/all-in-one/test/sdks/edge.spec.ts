import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ApiToken, ClientFeatures, EdgeInstance } from '@bunting/contracts';
import { edgeService } from '@bunting/edge';
import { host, openLog, type RunningHost } from '@bunting/runtime';
import { eventually, reservePort } from '@bunting/testing';
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OpenFeature } from '@openfeature/server-sdk';
import { InMemStorageProvider, Unleash } from 'unleash-client';
import { InMemoryStorageProvider, UnleashClient } from 'unleash-proxy-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiOf, featurePath, platformClient } from '../support/clients.ts';
import { type HostedPlatform, startHostedPlatform } from '../support/hosted-platform.ts';

const project = 'behind-an-edge';
const flag = 'lamp';
const flagUrl = featurePath(project, flag);

let platform: HostedPlatform;
let api: Api;
let clientToken: string;
let narrowToken: string;
let frontendToken: string;

const createToken = async (type: 'client' | 'frontend', projects: string[]): Promise<string> =>
  (
    await api<ApiToken>('POST', '/api/admin/api-tokens', {
      tokenName: `${type}-${projects.join('-')}-${Math.random()}`,
      type,
      environment: 'development',
      projects,
    })
  ).body.secret;

beforeAll(async () => {
  platform = await startHostedPlatform({ LOG_LEVEL: 'error' });
  api = apiOf(platform.url, platform.token);
  const client = platformClient(api);
  await client.createProject(project);
  await client.createFeature(project, flag);
  const { id } = await client.createSegment({
    name: 'insiders',
    constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }] as never,
  });
  await client.addStrategy(flagUrl, 'development', { segments: [id] } as never);
  await client.toggle(flagUrl, 'development', 'on');
  await client.createFeature('default', 'elsewhere');
  clientToken = await createToken('client', ['*']);
  narrowToken = await createToken('client', [project]);
  frontendToken = await createToken('frontend', [project]);
});
afterAll(() => platform.stop());

const edges: RunningHost[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const edge of edges.splice(0).reverse()) await edge.stop();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** Starts an edge behind the platform, and waits until it has features. */
const startEdge = async (settings: Readonly<Record<string, string>> = {}) => {
  const edge = await host([edgeService], {
    environment: {
      UPSTREAM_URL: platform.url,
      TOKENS: clientToken,
      INTERFACE: '127.0.0.1',
      PORT: '0',
      FEATURES_REFRESH_INTERVAL_SECONDS: '1',
      METRICS_INTERVAL_SECONDS: '1',
      TOKEN_REVALIDATION_INTERVAL_SECONDS: '1',
      LOG_LEVEL: 'silent',
      ...settings,
    },
    log: openLog('silent'),
  });
  edges.push(edge);
  const url = edge.services.get('edge')?.address ?? '';
  await eventually(async () => expect((await fetch(`${url}/internal-backstage/ready`)).status).toBe(200));
  return { url, stop: edge.stop };
};
const stopEdge = async ({ stop }: { readonly stop: () => Promise<void> }): Promise<void> => {
  const index = edges.findIndex((edge) => edge.stop === stop);
  edges.splice(index, 1);
  await stop();
};
const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'bunting-edge-'));
  folders.push(folder);
  return folder;
};
const get = (url: string, route: string, token: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${url}${route}`, { headers: { authorization: token, ...headers } });
/** What an SDK compares: status, tag and body. */
const responseOf = async (url: string, route: string, token: string, headers?: Readonly<Record<string, string>>) => {
  const response = await get(url, route, token, headers);
  return { status: response.status, etag: response.headers.get('etag'), body: await response.text() };
};
const toggle = (to: 'on' | 'off') => platformClient(api).toggle(flagUrl, 'development', to);

describe('an edge', () => {
  it.each([
    ['/api/client/features', { 'unleash-client-spec': '5.2.0' }],
    ['/api/client/features', {}],
    ['/api/client/features', { 'unleash-client-spec': '5.2.0', 'accept-encoding': 'gzip' }],
    [`/api/client/features/${flag}`, {}],
    ['/api/client/delta', {}],
  ])('has the tag and the body of its origin: %s %o', async (route, headers) => {
    const { url } = await startEdge({ TOKENS: `${clientToken},${narrowToken}` });
    for (const to of ['off', 'on'] as const) {
      await toggle(to);
      for (const token of [clientToken, narrowToken])
        await eventually(async () =>
          expect(await responseOf(url, route, token, headers)).toEqual(
            await responseOf(platform.url, route, token, headers),
          ),
        );
    }
    const { etag } = await responseOf(url, route, narrowToken, headers);
    const conditional = { ...headers, 'if-none-match': etag ?? '' };
    expect(await responseOf(url, route, narrowToken, conditional)).toMatchObject({ status: 304, body: '' });
  });

  it.each([
    ['polling', { type: 'polling' }],
    ['delta', { type: 'polling', format: 'delta' }],
    ['streaming', { type: 'streaming' }],
  ] as const)('serves the SDK of Unleash for Node.js by %s', async (_, experimentalMode) => {
    const { url } = await startEdge();
    const sdk = new Unleash({
      url: `${url}/api/`,
      appName: 'shop',
      refreshInterval: 200,
      disableMetrics: true,
      customHeaders: { Authorization: clientToken },
      storageProvider: new InMemStorageProvider(),
      experimentalMode: experimentalMode as never,
    });
    try {
      await once(sdk, 'synchronized');
      for (const to of ['off', 'on'] as const) {
        await toggle(to);
        await eventually(() => expect(sdk.isEnabled(flag, { userId: '7' })).toBe(to === 'on'));
      }
      expect(sdk.isEnabled(flag, { userId: '8' })).toBe(false);
    } finally {
      sdk.destroy();
    }
  });

  it.each(['frontend', 'proxy'])('serves the SDK of Unleash for browsers below /api/%s', async (name) => {
    const { url } = await startEdge();
    const page = new UnleashClient({
      url: `${url}/api/${name}`,
      clientKey: frontendToken,
      appName: 'shop',
      disableRefresh: true,
      disableMetrics: true,
      context: { userId: '7' },
      storageProvider: new InMemoryStorageProvider(),
    });
    await page.start();
    for (const to of ['off', 'on'] as const) {
      await toggle(to);
      await eventually(async () => {
        await page.updateToggles();
        expect(page.isEnabled(flag)).toBe(to === 'on');
      });
    }
    page.stop();
  });

  it('serves OpenFeature by OFREP as its origin does', async () => {
    const { url } = await startEdge();
    await OpenFeature.setProviderAndWait(
      'behind an edge',
      new OFREPProvider({ baseUrl: url, headers: [['Authorization', `Bearer ${frontendToken}`]] }),
    );
    const client = OpenFeature.getClient('behind an edge');
    for (const to of ['off', 'on'] as const) {
      await toggle(to);
      await eventually(async () =>
        expect(await client.getBooleanValue(flag, false, { targetingKey: '7' })).toBe(to === 'on'),
      );
    }
    expect(await client.getBooleanValue(flag, true, { targetingKey: '8' })).toBe(false);
  });

  it('serves another edge, which has the tags and bodies of the origin, too', async () => {
    const near = await startEdge();
    const far = await startEdge({ UPSTREAM_URL: near.url });
    const route = '/api/client/features';
    for (const to of ['off', 'on'] as const) {
      await toggle(to);
      await eventually(async () =>
        expect(await responseOf(far.url, route, clientToken)).toEqual(
          await responseOf(platform.url, route, clientToken),
        ),
      );
    }
    const evaluated = await get(far.url, '/api/frontend?userId=7', frontendToken);
    expect(((await evaluated.json()) as { toggles: { name: string }[] }).toggles).toMatchObject([{ name: flag }]);
  });

  it('refuses an unknown token, and in strict mode one of another environment than those listed', async () => {
    const { url } = await startEdge({ TOKENS: narrowToken });
    const route = '/api/client/features';
    expect((await get(url, route, '*:development.unknown')).status).toBe(401);
    expect((await get(url, route, '')).status).toBe(401);
    // Valid at the origin, and for more than what is listed.
    expect((await get(url, route, clientToken)).status).toBe(401);
    expect((await get(url, '/api/frontend', frontendToken)).status).toBe(200);
  });

  it('accepts any valid token where it is not strict, each for its own projects', async () => {
    const { url } = await startEdge({ STRICT: 'false', TOKENS: '' });
    const names = async (token: string) =>
      ((await (await get(url, '/api/client/features', token)).json()) as ClientFeatures).features.map(
        ({ name }) => name,
      );
    expect(await names(narrowToken)).toEqual([flag]);
    expect(await names(clientToken)).toEqual(['elsewhere', flag]);
    expect((await get(url, '/api/client/features', '*:development.unknown')).status).toBe(401);
  });

  it('refuses a token that was revoked at the origin, and goes on to serve others', async () => {
    const revoked = await createToken('client', [project]);
    const { url } = await startEdge({ TOKENS: `${clientToken},${revoked}` });
    const route = '/api/client/features';
    await eventually(async () => expect((await get(url, route, revoked)).status).toBe(200));
    await api('DELETE', `/api/admin/api-tokens/${encodeURIComponent(revoked)}`);
    await eventually(async () => expect((await get(url, route, revoked)).status).toBe(401));
    expect((await get(url, route, clientToken)).status).toBe(200);
  });

  it('serves what it has while the origin is away, and says that it is stale', async () => {
    const folder = await newFolder();
    const { url, stop } = await startEdge({ BACKUP_FOLDER: folder });
    const route = '/api/client/features';
    await get(url, '/api/frontend', frontendToken);
    const before = await responseOf(url, route, clientToken);
    await stopEdge({ stop });
    const away = `http://127.0.0.1:${await reservePort()}`;
    const restarted = await startEdge({ BACKUP_FOLDER: folder, UPSTREAM_URL: away });
    expect(await responseOf(restarted.url, route, clientToken)).toEqual(before);
    const response = await get(restarted.url, route, clientToken);
    expect(Number(response.headers.get('bunting-stale'))).toBeGreaterThan(0);
    expect((await get(restarted.url, '/api/frontend', frontendToken)).status).toBe(200);
    const health = await (await fetch(`${restarted.url}/internal-backstage/health`)).json();
    expect(health).toMatchObject({ status: 'OK', stale: 1 });
    const metrics = await (await fetch(`${restarted.url}/internal-backstage/prometheus`)).text();
    expect(metrics).toMatch(/bunting_edge_stale_seconds\{environment="development",.*\} [0-9.]+/);
    // What cannot be validated is neither accepted nor refused for good.
    expect((await get(restarted.url, route, '*:development.unknown')).status).toBe(503);
  });

  it('passes on the registrations and counts of applications', async () => {
    const { url } = await startEdge();
    const send = (route: string, token: string, body: object) =>
      fetch(`${url}${route}`, {
        method: 'POST',
        headers: { authorization: token, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const now = new Date().toISOString();
    const application = {
      appName: 'shop-behind-an-edge',
      instanceId: 'one',
      strategies: ['default'],
      started: now,
      interval: 10,
    };
    expect((await send('/api/client/register', clientToken, application)).status).toBe(202);
    const bucket = { start: now, stop: now, toggles: { [flag]: { yes: 5, no: 2 } } };
    const counts = { appName: application.appName, instanceId: 'one', bucket };
    expect((await send('/api/client/metrics', clientToken, counts)).status).toBe(202);
    expect((await send('/api/frontend/client/metrics', frontendToken, counts)).status).toBe(200);
    await eventually(async () => {
      const { body } = await api<{ lastHourUsage: { environment: string; yes: number; no: number }[] }>(
        'GET',
        `/api/admin/client-metrics/features/${flag}`,
      );
      expect(body.lastHourUsage).toMatchObject([{ environment: 'development', yes: 10, no: 4 }]);
    });
    await eventually(async () =>
      expect((await api('GET', `/api/admin/metrics/applications/${application.appName}`)).status).toBe(200),
    );
  });

  it('passes on the SDK that browsers name in a header, also of an edge behind it', async () => {
    const near = await startEdge();
    const far = await startEdge({ UPSTREAM_URL: near.url });
    const now = new Date().toISOString();
    const reportTo = (url: string, appName: string, sdk: string) =>
      fetch(`${url}/api/frontend/client/metrics`, {
        method: 'POST',
        headers: { authorization: frontendToken, 'content-type': 'application/json', 'unleash-sdk': sdk },
        body: JSON.stringify({ appName, bucket: { start: now, stop: now, toggles: { [flag]: { yes: 1, no: 0 } } } }),
      });
    expect((await reportTo(near.url, 'page-behind-an-edge', 'unleash-js-sdk:3.8.2')).status).toBe(200);
    expect((await reportTo(far.url, 'page-behind-two-edges', 'unleash-js-sdk:3.7.0')).status).toBe(200);
    const sdkOf = async (appName: string) =>
      (await api<{ sdkVersion?: string }>('GET', `/api/admin/metrics/applications/${appName}`)).body.sdkVersion;
    await eventually(async () => expect(await sdkOf('page-behind-an-edge')).toBe('unleash-js-sdk:3.8.2'));
    await eventually(async () => expect(await sdkOf('page-behind-two-edges')).toBe('unleash-js-sdk:3.7.0'));
  });

  it('is listed with the edges behind it, their revisions, and what has become of requests', async () => {
    const near = await startEdge({ APP_NAME: 'near', REGION: 'eu-north-1' });
    const far = await startEdge({ APP_NAME: 'far', UPSTREAM_URL: near.url });
    await get(far.url, '/api/client/features', clientToken);
    const listed = async () => {
      const { body } = await api<{ edges: EdgeInstance[] }>('GET', '/api/admin/metrics/edges');
      return body.edges.find(({ appName, connectedEdges = [] }) => appName === 'near' && connectedEdges.length > 0);
    };
    await toggle('off');
    await eventually(async () => {
      const edge = await listed();
      expect(edge).toMatchObject({ region: 'eu-north-1', staleMs: 0 });
      const [behind] = edge?.connectedEdges ?? [];
      expect(behind).toMatchObject({ appName: 'far', staleMs: 0, connectedEdges: [] });
      expect(behind?.['traffic']).toMatchObject({ get: { '/api/client/features': { count: 1 } } });
      const revisions = [...(edge?.edgeApiKeyRevisionIds ?? []), ...(behind?.edgeApiKeyRevisionIds ?? [])];
      expect(revisions.length).toBe(2);
      for (const { environment, projects, revisionId, currentRevisionId } of revisions)
        expect([environment, projects, revisionId]).toEqual(['development', ['*'], currentRevisionId]);
    });
    await stopEdge(near);
    await toggle('on');
    const [revision] = (await listed())?.edgeApiKeyRevisionIds ?? [];
    expect(revision?.currentRevisionId).toBeGreaterThan(revision?.revisionId ?? 0);
  });

  it('serves below its base path, too', async () => {
    const { url } = await startEdge({ BASE_PATH: '/flags' });
    const route = '/api/client/features';
    expect(await responseOf(`${url}/flags`, route, clientToken)).toEqual(await responseOf(url, route, clientToken));
    // Providers resolve the path of a stream against the origin alone.
    const evaluated = await fetch(`${url}/flags/ofrep/v1/evaluate/flags`, {
      method: 'POST',
      headers: { authorization: `Bearer ${frontendToken}`, 'content-type': 'application/json' },
      body: '{"context":{"targetingKey":"7"}}',
    });
    const { eventStreams } = (await evaluated.json()) as { eventStreams: { endpoint: { requestUri: string } }[] };
    const { requestUri = '' } = eventStreams[0]?.endpoint ?? {};
    expect(requestUri).toMatch(/^\/flags\/ofrep\/v1\/events\?/);
    const stream = await fetch(`${url}${requestUri}`);
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    await stream.body?.cancel();
  });

  it('serves a file without an origin to the tokens of its settings alone', async () => {
    const folder = await newFolder();
    const file = path.join(folder, 'features.json');
    const exported = await responseOf(platform.url, '/api/client/features', clientToken, {
      'unleash-client-spec': '5.2.0',
    });
    await writeFile(file, exported.body);
    const { url } = await startEdge({
      OFFLINE: 'true',
      BOOTSTRAP_FILE: file,
      TOKENS: '',
      CLIENT_TOKENS: '*:development.offline',
      FRONTEND_TOKENS: 'default:development.page',
    });
    const served = await responseOf(url, '/api/client/features', '*:development.offline', {
      'unleash-client-spec': '5.2.0',
    });
    expect(served).toEqual(exported);
    expect((await get(url, '/api/frontend', 'default:development.page')).status).toBe(200);
    expect((await get(url, '/api/client/features', clientToken)).status).toBe(401);
  });
});

it('an edge that cannot work with its settings says which one to change', async () => {
  const start = (environment: Readonly<Record<string, string>>) =>
    host([edgeService], { environment: { PORT: '0', INTERFACE: '127.0.0.1', ...environment }, log: openLog('silent') });
  await expect(start({})).rejects.toThrow('UPSTREAM_URL is required');
  await expect(start({ UPSTREAM_URL: platform.url })).rejects.toThrow('STRICT requires TOKENS');
  await expect(start({ OFFLINE: 'true' })).rejects.toThrow('OFFLINE requires BOOTSTRAP_FILE');
});
