import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ApiToken } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { OpenFeature } from '@openfeature/web-sdk';
import { InMemoryStorageProvider, UnleashClient } from 'unleash-proxy-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Api, apiOf, featurePath, platformClient } from '../support/clients.ts';
import { type HostedPlatform, startHostedPlatform } from '../support/hosted-platform.ts';
import { dataFolder, removeFolder, runProgram } from '../support/platform.ts';

const project = 'in-a-worker';
const flag = 'lamp';
const flagUrl = featurePath(project, flag);
const folder = dataFolder();

type Work = Promise<unknown>;
/** The module, as Cloudflare Workers use it. */
interface Worker {
  fetch(
    request: Request,
    environment: Readonly<Record<string, unknown>>,
    context: { waitUntil(work: Work): void },
  ): Promise<Response>;
}

interface TextStore {
  get(key: string): Promise<string | null>;
  put(key: string, text: string): Promise<void>;
}
interface Module {
  readonly default: Worker;
  readonly frontendEdge: (options: {
    readonly upstreamUrl: string;
    readonly tokens: readonly string[];
    readonly refreshMs: number;
    readonly revalidateMs: number;
    readonly waitMs: number;
    readonly store?: TextStore;
  }) => (request: Request) => Promise<Response>;
}

let platform: HostedPlatform;
let api: Api;
let clientToken: string;
let frontendToken: string;
let file: string;

const createToken = async (type: 'client' | 'frontend', projects: string[]): Promise<string> => {
  const body = { tokenName: `${type}-${Math.random()}`, type, environment: 'development', projects };
  return (await api<ApiToken>('POST', '/api/admin/api-tokens', body)).body.secret;
};

beforeAll(async () => {
  platform = await startHostedPlatform({ LOG_LEVEL: 'error' });
  api = apiOf(platform.url, platform.token);
  const client = platformClient(api);
  await client.createProject(project);
  const { id } = await client.createSegment({
    name: 'insiders',
    constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }] as never,
  });
  await client.createFeature(project, flag);
  await client.addStrategy(flagUrl, 'development', { segments: [id] } as never);
  await client.toggle(flagUrl, 'development', 'on');
  await client.createFeature(project, 'half');
  await client.addStrategy(featurePath(project, 'half'), 'development', {
    name: 'flexibleRollout',
    parameters: { rollout: '50', stickiness: 'default', groupId: 'half' },
    variants: [
      {
        name: 'blue',
        weight: 500,
        weightType: 'variable',
        stickiness: 'default',
        payload: { type: 'number', value: '3' },
      },
      {
        name: 'red',
        weight: 500,
        weightType: 'variable',
        stickiness: 'default',
        payload: { type: 'number', value: '4' },
      },
    ],
  } as never);
  await client.toggle(featurePath(project, 'half'), 'development', 'on');
  await client.createFeature('default', 'elsewhere');
  await client.toggle(featurePath('default', 'elsewhere'), 'development', 'on');
  clientToken = await createToken('client', ['*']);
  frontendToken = await createToken('frontend', [project]);

  const { code } = await runProgram('scripts/edge-bundle.ts', {}, { args: [folder] }).ended;
  expect(code).toBe(0);
  file = path.join(folder, 'bunting-edge-worker.mjs');
});
afterAll(async () => {
  await platform.stop();
  removeFolder(folder);
});

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A new instance of the module, as a runtime starts it anew, behind an HTTP server. */
const startWorker = async (settings: Readonly<Record<string, unknown>> = {}) => {
  const { default: worker } = (await import(`${pathToFileURL(file).href}?${Math.random()}`)) as Module;
  const environment = {
    UPSTREAM_URL: platform.url,
    TOKENS: clientToken,
    FEATURES_REFRESH_INTERVAL_SECONDS: '1',
    ...settings,
  };
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const request = new Request(`http://worker.test${url}`, {
      method,
      headers: headers as Record<string, string>,
      ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' } : {}),
    } as RequestInit);
    void worker.fetch(request, environment, { waitUntil: () => undefined }).then(async (response) => {
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      outgoing.end(Buffer.from(await response.arrayBuffer()));
    });
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const get = (url: string, route: string, token = frontendToken, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${url}${route}`, { headers: { authorization: token, ...headers } });
const post = (
  url: string,
  route: string,
  body: unknown,
  token = frontendToken,
  headers: Readonly<Record<string, string>> = {},
) =>
  fetch(`${url}${route}`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const users = [...Array.from({ length: 100 }, (_, nth) => String(nth)), 'jürgen', '用户😀'];
const withoutStreams = async (response: Response) => ({
  ...((await response.json()) as Record<string, unknown>),
  eventStreams: undefined,
});

describe('the module of the edge for runtimes of the web platform', () => {
  it('needs nothing but one file and the web platform', async () => {
    const code = await readFile(file, 'utf8');
    expect(code).not.toMatch(/^import\b/m);
    // Comments of libraries name some of it.
    const uses = code
      .split('\n')
      .filter((line) => !/^\s*(?:\*|\/\/)/.test(line))
      .filter((line) => /\bnode:|\brequire\(|\bBuffer\.|\bnew Function\(|(?<!\.)\beval\(\w/.test(line));
    expect(uses.filter((line) => !line.includes('eval(input, pos) {'))).toEqual([]);
  });

  it('evaluates for browsers and OpenFeature as the gateway does, for every user', async () => {
    const url = await startWorker();
    for (const userId of users) {
      const query = `?userId=${encodeURIComponent(userId)}&properties[plan]=pro`;
      for (const route of ['/api/frontend', '/api/proxy'])
        expect(await (await get(url, route + query)).json()).toEqual(
          await (await get(platform.url, `/api/frontend${query}`)).json(),
        );
      const body = { context: { userId, properties: { plan: 'pro' } } };
      expect(await (await post(url, '/api/frontend', body)).json()).toEqual(
        await (await post(platform.url, '/api/frontend', body)).json(),
      );
      const ofrep = { context: { targetingKey: userId } };
      for (const route of ['/ofrep/v1/evaluate/flags', '/ofrep/v1/evaluate/flags/half'])
        expect(await withoutStreams(await post(url, route, ofrep))).toEqual(
          await withoutStreams(await post(platform.url, route, ofrep)),
        );
    }
  });

  it.each([
    ['no token', (url: string) => get(url, '/api/frontend', '')],
    ['an unknown token', (url: string) => get(url, '/api/frontend', '*:development.unknown')],
    ['a client token', (url: string) => get(url, '/api/frontend', clientToken)],
    ['an unknown flag', (url: string) => post(url, '/ofrep/v1/evaluate/flags/nothing', {})],
    ['a flag that needs a targeting key', (url: string) => post(url, '/ofrep/v1/evaluate/flags/half', {})],
    ['text for a context', (url: string) => post(url, '/api/frontend', { context: 'x' })],
    ['a body that is no JSON', (url: string) => post(url, '/ofrep/v1/evaluate/flags', '{')],
    ['a flag whose name is not encoded', (url: string) => post(url, '/ofrep/v1/evaluate/flags/%E0%A4%A', {})],
    ['another path', (url: string) => get(url, '/api/frontend/other')],
  ])('refuses %s with the status of the gateway', async (_, send) => {
    const [worker, gateway] = [await send(await startWorker()), await send(platform.url)];
    expect(worker.status).toBe(gateway.status);
    const { errorCode } = (await worker.json()) as { errorCode?: string };
    expect(errorCode).toBe(((await gateway.json()) as { errorCode?: string }).errorCode);
  });

  it('serves the SDKs of Unleash and of OpenFeature for browsers, which see changes', async () => {
    const url = await startWorker();
    const page = new UnleashClient({
      url: `${url}/api/frontend`,
      clientKey: frontendToken,
      appName: 'shop',
      disableRefresh: true,
      disableMetrics: true,
      context: { userId: '7' },
      storageProvider: new InMemoryStorageProvider(),
    });
    await page.start();
    const provider = new OFREPWebProvider({
      baseUrl: url,
      headers: [['Authorization', frontendToken]],
      pollInterval: 200,
    });
    await OpenFeature.setContext({ targetingKey: '7' });
    await OpenFeature.setProviderAndWait('in a worker', provider);
    const client = OpenFeature.getClient('in a worker');
    try {
      for (const to of ['off', 'on'] as const) {
        await platformClient(api).toggle(flagUrl, 'development', to);
        await eventually(async () => {
          await page.updateToggles();
          expect([page.isEnabled(flag), client.getBooleanValue(flag, false)]).toEqual([to === 'on', to === 'on']);
        });
      }
    } finally {
      page.stop();
      await OpenFeature.close();
    }
  });

  it('answers 304 until an evaluation changes, and lets pages of every origin ask', async () => {
    const url = await startWorker();
    const etag = (await get(url, '/api/frontend?userId=7')).headers.get('etag') ?? '';
    const unchanged = await get(url, '/api/frontend?userId=7', frontendToken, { 'if-none-match': etag });
    expect([unchanged.status, unchanged.headers.get('access-control-allow-origin')]).toEqual([304, '*']);
    expect((await get(url, '/api/frontend?userId=8', frontendToken, { 'if-none-match': etag })).status).toBe(200);
    const preflight = await fetch(`${url}/api/frontend`, { method: 'OPTIONS' });
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization');
  });

  it('passes counts of pages on', async () => {
    const url = await startWorker();
    const now = new Date().toISOString();
    const bucket = { start: now, stop: now, toggles: { half: { yes: 5, no: 2 } } };
    const path = '/api/frontend/client/metrics';
    const sent = await post(url, path, { appName: 'shop', instanceId: 'one', bucket }, frontendToken, {
      'unleash-sdk': 'unleash-js-sdk:3.8.2',
    });
    const direct = await post(platform.url, path, {
      appName: 'shop',
      instanceId: 'one',
      bucket,
    });
    expect(sent.status).toBe(direct.status);
    await eventually(async () => {
      const { body } = await api<{ lastHourUsage: object[] }>('GET', '/api/admin/client-metrics/features/half');
      expect(body.lastHourUsage).toMatchObject([{ environment: 'development', yes: 10, no: 4 }]);
    });
    const application = await api<{ sdkVersion: string }>('GET', '/api/admin/metrics/applications/shop');
    expect(application.body.sdkVersion).toBe('unleash-js-sdk:3.8.2');
  });

  describe('with a store', () => {
    let stored: Map<string, string>;
    let store: TextStore;
    /** What the origin does: answers, breaks off, or never answers. */
    let behaviour: 'answers' | 'breaks off' | 'hangs';
    let between: string;

    beforeEach(async () => {
      stored = new Map();
      store = {
        get: (key) => Promise.resolve(stored.get(key) ?? null),
        put: (key, text) => Promise.resolve(void stored.set(key, text)),
      };
      behaviour = 'answers';
      const server = createServer((incoming, outgoing) => {
        if (behaviour === 'hangs') return;
        if (behaviour === 'breaks off') return void outgoing.destroy();
        const { method = 'GET', url = '', headers } = incoming;
        void fetch(`${platform.url}${url}`, {
          method,
          headers: headers as Record<string, string>,
          ...(method === 'POST' ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' } : {}),
        } as RequestInit).then(async (response) => {
          const passed = ['content-type', 'etag'].flatMap((name) => {
            const value = response.headers.get(name);
            return value === null ? [] : [[name, value]];
          });
          outgoing.writeHead(response.status, Object.fromEntries(passed) as Record<string, string>);
          outgoing.end(Buffer.from(await response.arrayBuffer()));
        });
      }).listen(0, '127.0.0.1');
      servers.push(server);
      await once(server, 'listening');
      between = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });

    /** A new instance, which waits for the origin for a fifth of a second at most, unless another time is given. */
    const instance = async (own: TextStore | 'none' = store, waitMs = 200) => {
      const { frontendEdge } = (await import(`${pathToFileURL(file).href}?${Math.random()}`)) as Module;
      const respond = frontendEdge({
        upstreamUrl: between,
        tokens: [clientToken],
        refreshMs: 50,
        revalidateMs: 50,
        waitMs,
        ...(own === 'none' ? {} : { store: own }),
      });
      return (userId = '7', token = frontendToken) =>
        respond(new Request(`http://worker.test/api/frontend?userId=${userId}`, { headers: { authorization: token } }));
    };
    const namesIn = async (response: Response) =>
      ((await response.json()) as { toggles: { name: string }[] }).toggles.map(({ name }) => name);

    it.each(['breaks off', 'hangs'] as const)(
      'serves what it has while the origin %s, and a new instance what is stored',
      async (failing) => {
        const evaluate = await instance();
        // The first responses may wait in vain on a busy machine.
        await eventually(async () => expect((await evaluate()).status).toBe(200));
        await eventually(() => expect(stored.size).toBe(3));
        expect(JSON.stringify([...stored])).not.toContain(frontendToken);
        const before = await namesIn(await evaluate());
        behaviour = failing;
        await eventually(async () => {
          const response = await evaluate();
          expect(Number(response.headers.get('bunting-stale'))).toBeGreaterThan(0);
          expect(await namesIn(response)).toEqual(before);
        });
        const restarted = await instance();
        expect(await namesIn(await restarted())).toEqual(before);
        // What cannot be validated is neither accepted nor refused for good.
        expect((await restarted('7', '*:development.unknown')).status).toBe(503);
        const withoutStore = await instance('none');
        expect((await withoutStore()).status).toBe(503);
      },
    );

    it('sees what has changed once the origin is back', async () => {
      const evaluate = await instance();
      await eventually(async () => expect(await namesIn(await evaluate())).toContain(flag));
      behaviour = 'breaks off';
      await platformClient(api).toggle(flagUrl, 'development', 'off');
      expect(await namesIn(await evaluate())).toContain(flag);
      behaviour = 'answers';
      await eventually(async () => expect(await namesIn(await evaluate())).not.toContain(flag));
      await platformClient(api).toggle(flagUrl, 'development', 'on');
    });

    it('accepts no token from the store that an instance has seen revoked', async () => {
      const revoked = await createToken('frontend', [project]);
      const evaluate = await instance();
      await eventually(async () => expect((await evaluate('7', revoked)).status).toBe(200));
      await eventually(() => expect(stored.size).toBe(3));
      await api('DELETE', `/api/admin/api-tokens/${encodeURIComponent(revoked)}`);
      await eventually(async () => expect((await evaluate('7', revoked)).status).toBe(401));
      behaviour = 'breaks off';
      expect((await (await instance())('7', revoked)).status).toBe(503);
    });

    it('stores nothing for tokens that were never valid, and nothing anew while nothing changes', async () => {
      let puts = 0;
      const counting = { ...store, put: (...args: Parameters<TextStore['put']>) => (puts++, store.put(...args)) };
      // A response that gave up waiting would validate its token again, and store that a second time.
      const evaluate = await instance(counting, 60_000);
      expect((await evaluate()).status).toBe(200);
      await eventually(() => expect(stored.size).toBe(3));
      const etag = async () =>
        JSON.parse([...stored].find(([key]) => key.startsWith('flags:'))?.[1] ?? '{}') as unknown;
      const before = await etag();
      for (let nth = 0; nth < 5; nth++) {
        expect((await evaluate('7', `*:development.unknown${nth}`)).status).toBe(401);
        expect((await evaluate()).status).toBe(200);
      }
      expect([stored.size, puts, await etag()]).toEqual([3, 3, before]);
    });
  });

  it('refuses a token once the origin has revoked it', async () => {
    const revoked = await createToken('frontend', [project]);
    const url = await startWorker({ TOKEN_REVALIDATION_INTERVAL_SECONDS: '1' });
    expect((await get(url, '/api/frontend', revoked)).status).toBe(200);
    await api('DELETE', `/api/admin/api-tokens/${encodeURIComponent(revoked)}`);
    await eventually(async () => expect((await get(url, '/api/frontend', revoked)).status).toBe(401));
    expect((await get(url, '/api/frontend')).status).toBe(200);
  });
});
