import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { OpenFeature as ServerOpenFeature } from '@openfeature/server-sdk';
import { OpenFeature as WebOpenFeature } from '@openfeature/web-sdk';
import {
  type Balancer,
  eventually,
  openEventStream,
  type OpenEventStream,
  startBalancer,
  startNats,
  type TestNats,
  reservePort,
} from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { InMemStorageProvider, Unleash, UnleashEvents } from 'unleash-client';
import { InMemoryStorageProvider, UnleashClient } from 'unleash-proxy-client';
import { apiOf } from '../support/api.ts';
import { endSdk } from '../support/end-sdk.ts';
import { featurePath, platformClient } from '../support/platform-client.ts';
import { type HostedPlatform, startHostedPlatform } from '../support/hosted-platform.ts';
import { adminClient } from '../support/admin-client.ts';
import { restartInTurn, type RestartableGateway, startGatewayAt } from '../support/restartable-gateway.ts';
import { type EvaluationCase, otherProviders } from './ofrep-providers.ts';

const project = 'evaluated';
const flag = 'evaluated-switch';
const priced = 'evaluated-price';
const flagUrl = featurePath(project, flag);
const context = { targetingKey: '7', appName: 'shop' };

let nats: TestNats;
let platform: HostedPlatform;
let gateways: readonly RestartableGateway[];
let balancer: Balancer;
let page: UnleashClient;
let hasStopped = false;
let serverToken: string;

const half = 'evaluated-half';
const payloads = {
  string: { type: 'string', value: 'seven' },
  integer: { type: 'number', value: '7' },
  number: { type: 'number', value: '7.5' },
  object: { type: 'json', value: '{"amount":7}' },
} as const;
const users = Array.from({ length: 1_000 }, (_, nth) => String(nth));
const evaluationCases: readonly EvaluationCase[] = [
  { key: 'typed-string', type: 'string', user: '7' },
  { key: 'typed-integer', type: 'integer', user: '7' },
  { key: 'typed-number', type: 'number', user: '7' },
  { key: 'typed-object', type: 'object', user: '7' },
  ...users.map((user): EvaluationCase => ({ key: half, type: 'boolean', user })),
];

const withJavaScript = (_url: string, _token: string, cases: readonly EvaluationCase[]) =>
  Promise.all(
    cases.map(({ key, type, user: targetingKey }) => {
      const client = openFeature();
      if (type === 'boolean') return client.getBooleanValue(key, false, { targetingKey });
      if (type === 'string') return client.getStringValue(key, '', { targetingKey });
      if (type === 'object') return client.getObjectValue(key, {}, { targetingKey });
      return client.getNumberValue(key, 0, { targetingKey });
    }),
  );

/** The programs of other languages are compiled and their packages fetched first. */
const providerTimeoutMs = 300_000;
const reconnectionTimeMs = 20;
/** The EventSource of browsers, which Node.js does not have: a stream that reconnects with the id of its last event. */
class ReconnectingEventSource extends EventTarget {
  readyState = 0;
  #stream: OpenEventStream | undefined;
  #lastId: string | undefined;
  readonly #url: string;
  constructor(url: string) {
    super();
    this.#url = url;
    void this.#connect();
  }
  async #connect(): Promise<void> {
    while (this.readyState !== 2) {
      const headers: Record<string, string> = this.#lastId === undefined ? {} : { 'last-event-id': this.#lastId };
      const stream = await openEventStream(this.#url, headers, ({ id, data }) => {
        this.#lastId = id ?? this.#lastId;
        this.dispatchEvent(new MessageEvent('message', { data }));
      }).catch(() => undefined);
      this.#stream = stream;
      if (stream !== undefined && stream.status !== 200) {
        this.readyState = 2;
      } else if (stream !== undefined) {
        this.readyState = 1;
        this.dispatchEvent(new Event('open'));
        await stream.ended;
        this.readyState = hasStopped ? 2 : 0;
      }
      this.dispatchEvent(new Event('error'));
      await sleep(reconnectionTimeMs);
    }
  }
  close(): void {
    this.readyState = 2;
    this.#stream?.close();
  }
}

const toggle = (to: 'on' | 'off') =>
  platformClient(apiOf(platform.url, platform.token)).toggle(flagUrl, 'development', to);
const openFeature = () => ServerOpenFeature.getClient();
/** The flag as each client evaluates it. The page with the SDK of Unleash polls first. */
const states = async () => {
  await page.updateToggles();
  return {
    page: page.isEnabled(flag),
    server: await openFeature().getBooleanValue(flag, false, context),
    webPage: WebOpenFeature.getClient().getBooleanValue(flag, false),
  };
};
const allSee = (isOn: boolean) =>
  eventually(async () => expect(await states()).toEqual({ page: isOn, server: isOn, webPage: isOn }));

beforeAll(async () => {
  Object.assign(globalThis, { EventSource: ReconnectingEventSource });
  nats = await startNats();
  platform = await startHostedPlatform({
    ...nats.settings,
    LOG_LEVEL: 'error',
    GATEWAY_TOKEN_KEY: 'a key that all gateways know, of 32 characters',
  });
  const { GATEWAY_DATABASE_URL = '', GATEWAY_TOKEN_KEY = '' } = platform.environment;
  const shared = { ...nats.settings, GATEWAY_DATABASE_URL, GATEWAY_TOKEN_KEY };
  gateways = [await startGatewayAt(await reservePort(), shared), await startGatewayAt(await reservePort(), shared)];
  balancer = await startBalancer(gateways.map(({ url }) => url));
  const api = apiOf(platform.url, platform.token);
  const client = platformClient(api);
  await client.createProject(project);
  const variants = [
    {
      name: 'only',
      weight: 1000,
      weightType: 'variable',
      stickiness: 'default',
      payload: { type: 'json', value: '{"amount":7,"currency":"NOK"}' },
    },
  ];
  const parameters = { rollout: '100', stickiness: 'default', groupId: 'evaluated' };
  for (const [name, strategy] of [
    [flag, { parameters, constraints: [{ contextName: 'appName', operator: 'IN' as const, values: ['shop'] }] }],
    [priced, { parameters, variants }],
  ] as [string, object][]) {
    await client.createFeature(project, name);
    await client.addStrategy(featurePath(project, name), 'development', strategy);
    await client.toggle(featurePath(project, name), 'development', 'on');
  }
  for (const [name, payload] of Object.entries(payloads)) {
    await client.createFeature(project, `typed-${name}`);
    await client.addStrategy(featurePath(project, `typed-${name}`), 'development', {
      parameters,
      variants: [{ name: 'only', weight: 1000, weightType: 'variable', stickiness: 'default', payload }],
    });
    await client.toggle(featurePath(project, `typed-${name}`), 'development', 'on');
  }
  await client.createFeature(project, half);
  await client.addStrategy(featurePath(project, half), 'development', { parameters: { ...parameters, rollout: '50' } });
  await client.toggle(featurePath(project, half), 'development', 'on');
  const { apiToken } = adminClient(() => ({ ...platform, api }));
  serverToken = (await apiToken('evaluated-server', { type: 'client', projects: [project] })).secret;
  const { secret } = await apiToken('evaluated', { type: 'frontend', projects: [project] });
  await allReady();
  page = new UnleashClient({
    url: `${balancer.url}/api/frontend`,
    clientKey: secret,
    appName: 'shop',
    disableMetrics: true,
    context: { userId: '7' },
    disableRefresh: true,
    storageProvider: new InMemoryStorageProvider(),
  });
  page.on('error', () => undefined);
  await page.start();
  await ServerOpenFeature.setProviderAndWait(
    new OFREPProvider({ baseUrl: balancer.url, headers: [['X-API-Key', secret]] }),
  );
  await WebOpenFeature.setContext(context);
  await WebOpenFeature.setProviderAndWait(
    new OFREPWebProvider({ baseUrl: balancer.url, headers: [['Authorization', `Bearer ${secret}`]] }),
  );
});
afterAll(async () => {
  hasStopped = true;
  page.stop();
  await WebOpenFeature.close();
  await ServerOpenFeature.close();
  await balancer.stop();
  for (const gateway of gateways) await gateway.stop();
  await platform.stop();
  await nats.stop();
});

const allReady = () => eventually(() => expect(balancer.ready().length).toBe(gateways.length));

describe('a page with the SDK of Unleash, and a server and a page with OpenFeature', () => {
  it('evaluate features for their user, with payloads and reasons', async () => {
    await allSee(true);
    const price = { amount: 7, currency: 'NOK' };
    expect(WebOpenFeature.getClient().getObjectDetails(priced, {})).toMatchObject({
      value: price,
      variant: 'only',
      reason: 'STATIC',
      flagMetadata: { featureEnabled: true },
    });
    expect(await openFeature().getObjectDetails(priced, {}, context)).toMatchObject({ value: price, variant: 'only' });
    expect(await openFeature().getBooleanDetails(flag, true, { targetingKey: '7', appName: 'bank' })).toMatchObject({
      value: false,
      reason: 'TARGETING_MATCH',
    });
    const absent = await openFeature().getBooleanDetails('evaluated-absent', true, context);
    expect(absent).toMatchObject({ value: true, errorCode: 'FLAG_NOT_FOUND' });
  });

  it.each([['JavaScript', withJavaScript] as const, ...otherProviders])(
    'evaluate every type of value, and a share of the users as the SDK of Unleash does, with the provider for %s',
    async (_language, evaluate) => {
      const sdk = new Unleash({
        url: `${balancer.url}/api`,
        appName: 'shop',
        customHeaders: { Authorization: serverToken },
        disableMetrics: true,
        storageProvider: new InMemStorageProvider(),
        skipInstanceCountWarning: true,
      });
      await once(sdk, UnleashEvents.Synchronized);
      const expected = users.map((userId) => sdk.isEnabled(half, { userId }));
      endSdk(sdk);
      expect(expected.filter(Boolean).length).toBeGreaterThan(400);
      const values = await evaluate(balancer.url, serverToken, evaluationCases);
      expect(values).toEqual(['seven', 7, 7.5, { amount: 7 }, ...expected]);
    },
    providerTimeoutMs,
  );

  it('see each change; the page with OpenFeature by its event stream', async () => {
    await toggle('off');
    await allSee(false);
    await toggle('on');
    await allSee(true);
  });

  it('follow changes through a rolling restart of the gateways', async () => {
    const away = async (nth: number): Promise<void> => {
      await toggle(nth === 0 ? 'off' : 'on');
      await allSee(nth !== 0);
    };
    await restartInTurn(gateways, { away, back: allReady });
  });

  it('see what changed while no gateway ran, once one runs again', async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await toggle('off');
    await Promise.all(gateways.map((gateway) => gateway.start()));
    await allSee(false);
  });

  it('go on with what the gateways have while NATS is unavailable, and see the changes of afterwards', async () => {
    await toggle('on');
    await allSee(true);
    await nats.kill();
    await eventually(async () => {
      for (const { url } of gateways) {
        const response = await apiOf(url, platform.token)('GET', '/api/frontend?environment=development');
        expect([response.status, response.headers.has('bunting-stale')]).toEqual([200, true]);
      }
    });
    await allSee(true);
    await nats.restart();
    await eventually(() => toggle('off'));
    await allSee(false);
  });
});
