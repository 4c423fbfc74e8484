import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { OpenFeature as ServerOpenFeature } from '@openfeature/server-sdk';
import { OpenFeature as WebOpenFeature } from '@openfeature/web-sdk';
import { eventually, openEventStream, type OpenEventStream } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { InMemStorageProvider, Unleash, UnleashEvents } from 'unleash-client';
import { InMemoryStorageProvider, UnleashClient } from 'unleash-proxy-client';
import { adminClient, apiOf, featurePath, platformClient } from '../support/clients.ts';
import { type BalancedPlatform, restartInTurn, startBalancedPlatform } from '../support/hosted-platform.ts';
import { endSdk, type EvaluationCase, otherProviders } from './ofrep-providers.ts';

/** Both groups of clients follow one platform; the second leaves its gateways with other settings. */
let platform: BalancedPlatform;
beforeAll(async () => {
  platform = await startBalancedPlatform();
});
afterAll(() => platform.stop());

let hasStopped = false;
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

describe('a page with the SDK of Unleash, and a server and a page with OpenFeature', () => {
  const project = 'evaluated';
  const flag = 'evaluated-switch';
  const priced = 'evaluated-price';
  const flagUrl = featurePath(project, flag);
  const context = { targetingKey: '7', appName: 'shop' };

  let page: UnleashClient;
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

  const evaluateOne = async ({ key, type, user: targetingKey }: EvaluationCase): Promise<unknown> => {
    const client = openFeature();
    const user = { targetingKey };
    const details =
      type === 'boolean'
        ? await client.getBooleanDetails(key, false, user)
        : type === 'string'
          ? await client.getStringDetails(key, '', user)
          : type === 'object'
            ? await client.getObjectDetails(key, {}, user)
            : await client.getNumberDetails(key, 0, user);
    // A provider hides an error behind the default.
    if (details.errorCode !== undefined) throw new Error(`${details.errorCode}: ${details.errorMessage}`);
    return details.value;
  };
  const withJavaScript = async (_url: string, _token: string, cases: readonly EvaluationCase[]) => {
    const values: unknown[] = [];
    const atOnce = 50;
    for (let first = 0; first < cases.length; first += atOnce)
      values.push(...(await Promise.all(cases.slice(first, first + atOnce).map(evaluateOne))));
    return values;
  };

  /** The programs of other languages are compiled and their packages fetched first. */
  const providerTimeoutMs = 300_000;
  const toggle = (to: 'on' | 'off') => platformClient(platform.api).toggle(flagUrl, 'development', to);
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
    const api = platform.api;
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
    await client.addStrategy(featurePath(project, half), 'development', {
      parameters: { ...parameters, rollout: '50' },
    });
    await client.toggle(featurePath(project, half), 'development', 'on');
    const { apiToken } = adminClient(() => platform);
    serverToken = (await apiToken('evaluated-server', { type: 'client', projects: [project] })).secret;
    const { secret } = await apiToken('evaluated', { type: 'frontend', projects: [project] });
    await platform.allReady();
    page = new UnleashClient({
      url: `${platform.balancer.url}/api/frontend`,
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
      new OFREPProvider({ baseUrl: platform.balancer.url, headers: [['X-API-Key', secret]] }),
    );
    await WebOpenFeature.setContext(context);
    await WebOpenFeature.setProviderAndWait(
      new OFREPWebProvider({ baseUrl: platform.balancer.url, headers: [['Authorization', `Bearer ${secret}`]] }),
    );
  });
  afterAll(async () => {
    hasStopped = true;
    Reflect.deleteProperty(globalThis, 'EventSource');
    page.stop();
    await WebOpenFeature.close();
    await ServerOpenFeature.close();
  });

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
        url: `${platform.balancer.url}/api`,
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
      const values = await evaluate(platform.balancer.url, serverToken, evaluationCases);
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
    await restartInTurn(platform.gateways, { away, back: platform.allReady });
  });

  it('see what changed while no gateway ran, once one runs again', async () => {
    await Promise.all(platform.gateways.map((gateway) => gateway.stop()));
    await toggle('off');
    await Promise.all(platform.gateways.map((gateway) => gateway.start()));
    await allSee(false);
  });

  it('go on with what the gateways have while NATS is unavailable, and see the changes of afterwards', async () => {
    await toggle('on');
    await allSee(true);
    await platform.nats.kill();
    await eventually(async () => {
      for (const { url } of platform.gateways) {
        const response = await apiOf(url, platform.token)('GET', '/api/frontend?environment=development');
        expect([response.status, response.headers.has('bunting-stale')]).toEqual([200, true]);
      }
    });
    await allSee(true);
    await platform.nats.restart();
    await eventually(() => toggle('off'));
    await allSee(false);
  });
});

describe('the SDK of Unleash in every mode: polling, delta and streaming', () => {
  const project = 'modes';
  const changing = 'modes-changing';
  const lasting = 'modes-lasting';
  const at = featurePath(project, changing);

  let secret: string;
  /** the SDK in each of its modes, which reach the gateways through a load platform.balancer */
  const sdks = new Map<string, Unleash>();
  /** the modes that SDKs have changed to on their own */
  const modes: unknown[] = [];

  type ExperimentalMode = NonNullable<ConstructorParameters<typeof Unleash>[0]['experimentalMode']>;

  const sdkAt = (url: string, appName: string, experimentalMode: ExperimentalMode, key = secret): Unleash => {
    const sdk = new Unleash({
      url: `${url}/api`,
      appName,
      customHeaders: { Authorization: key },
      refreshInterval: 100,
      disableMetrics: true,
      storageProvider: new InMemStorageProvider(),
      skipInstanceCountWarning: true,
      experimentalMode,
    });
    sdk.on(UnleashEvents.Error, () => undefined);
    sdk.on(UnleashEvents.Warn, () => undefined);
    return sdk;
  };

  const toggle = (to: 'on' | 'off') => platformClient(platform.api).toggle(at, 'development', to);
  const states = (name: string) => Object.fromEntries([...sdks].map(([mode, sdk]) => [mode, sdk.isEnabled(name)]));
  const everyMode = (isOn: boolean) => ({ polling: isOn, delta: isOn, streaming: isOn });
  const allSee = (isOn: boolean) => eventually(() => expect(states(changing)).toEqual(everyMode(isOn)));

  beforeAll(async () => {
    const client = platformClient(platform.api);
    await client.createProject(project);
    for (const name of [changing, lasting]) {
      await client.createFeature(project, name);
      await client.addStrategy(featurePath(project, name), 'development');
      await client.toggle(featurePath(project, name), 'development', 'on');
    }
    const { apiToken } = adminClient(() => platform);
    ({ secret } = await apiToken('modes', { projects: [project] }));
    await platform.allReady();
    for (const [mode, experimentalMode] of [
      ['polling', { type: 'polling', format: 'full' }],
      ['delta', { type: 'polling', format: 'delta' }],
      ['streaming', { type: 'streaming' }],
    ] as const) {
      const sdk = sdkAt(platform.balancer.url, `modes-${mode}`, experimentalMode);
      sdk['repository'].on(UnleashEvents.Mode, (change: unknown) => void modes.push(change));
      sdks.set(mode, sdk);
    }
    await allSee(true);
  });
  afterAll(async () => {
    for (const sdk of sdks.values()) endSdk(sdk);
  });

  it('sees a flag switched off and on again', async () => {
    await toggle('off');
    await allSee(false);
    await toggle('on');
    await allSee(true);
  });

  it('follows changes through a rolling restart of the gateways', async () => {
    const away = async (nth: number): Promise<void> => {
      await toggle(nth === 0 ? 'off' : 'on');
      await allSee(nth !== 0);
    };
    await restartInTurn(platform.gateways, { away, back: platform.allReady });
    expect(states(lasting)).toEqual(everyMode(true));
  });

  it('keeps a feature that moves to another project of its token', async () => {
    const [target, flag] = ['modes-target', 'modes-kept'];
    const admin = platform.api;
    const client = platformClient(admin);
    await client.createProject(target);
    await client.createFeature(project, flag);
    const { apiToken } = adminClient(() => platform);
    const ofBoth = await apiToken('modes of source and target', { projects: [project, target] });
    const following = (
      [{ type: 'polling', format: 'full' }, { type: 'polling', format: 'delta' }, { type: 'streaming' }] as const
    ).map((mode) => sdkAt(platform.balancer.url, `kept-${mode.type}`, mode, ofBoth.secret));
    const projects = () => following.map((sdk) => sdk.getFeatureToggleDefinition(flag)?.project);
    await eventually(() => expect(projects()).toEqual(following.map(() => project)));
    const move = { newProjectId: target };
    expect((await admin('POST', `${featurePath(project, flag)}/changeProject`, move)).status).toBe(200);
    await eventually(() => expect(projects()).toEqual(following.map(() => target)));
    for (const sdk of following) endSdk(sdk);
  });

  it('goes on with a project that is made private, and drops a feature that moves out of the projects of its token', async () => {
    const moving = 'modes-moving';
    const admin = platform.api;
    const client = platformClient(admin);
    const knows = () => [...sdks.values()].map((sdk) => sdk.getFeatureToggleDefinition(moving) !== undefined);
    await client.createFeature(project, moving);
    await eventually(() => expect(knows()).toEqual([true, true, true]));
    const settings = { name: `Project ${project}`, mode: 'private' };
    expect((await admin('PUT', `/api/admin/projects/${project}`, settings)).status).toBe(200);
    for (const to of ['on', 'off'] as const) {
      await toggle(to);
      await allSee(to === 'on');
    }
    await client.createProject('modes-elsewhere');
    const move = { newProjectId: 'modes-elsewhere' };
    expect((await admin('POST', `${featurePath(project, moving)}/changeProject`, move)).status).toBe(200);
    await eventually(() => expect(knows()).toEqual([false, false, false]));
    expect(states(lasting)).toEqual(everyMode(true));
  });

  it('keeps what it has while NATS is unavailable, and sees the changes of afterwards', async () => {
    await platform.nats.kill();
    await eventually(async () => {
      const response = await apiOf(platform.gateways[0]?.url ?? '', platform.token)('GET', '/api/client/features');
      expect([response.status, response.headers.has('bunting-stale')]).toEqual([200, true]);
    });
    expect([states(lasting), states(changing)]).toEqual([everyMode(true), everyMode(false)]);
    await platform.nats.restart();
    await eventually(() => toggle('on'));
    await allSee(true);
  });

  it('stays in its mode through all of that', () => {
    expect(modes).toEqual([]);
  });

  // From here on, SDKs may fall back to polling: they do after some failures in a minute.
  it('sees what changed while no gateway ran, once one runs again', async () => {
    await Promise.all(platform.gateways.map((gateway) => gateway.stop()));
    await toggle('off');
    expect(states(lasting)).toEqual(everyMode(true));
    await Promise.all(platform.gateways.map((gateway) => gateway.start()));
    await allSee(false);
  });

  it('drops the features of a project of its token that is deleted while no gateway runs', async () => {
    const doomed = 'modes-doomed';
    const flag = 'modes-doomed-flag';
    const admin = platform.api;
    const client = platformClient(admin);
    await client.createProject(doomed);
    await client.createFeature(doomed, flag);
    await client.toggle(featurePath(doomed, flag), 'development', 'on');
    const { apiToken } = adminClient(() => platform);
    const ofBoth = await apiToken('modes of both', { projects: [project, doomed] });
    const following = (
      [{ type: 'polling', format: 'full' }, { type: 'polling', format: 'delta' }, { type: 'streaming' }] as const
    ).map((mode) => sdkAt(platform.balancer.url, `doomed-${mode.type}`, mode, ofBoth.secret));
    const names = () => following.map((sdk) => [flag, lasting].filter((name) => sdk.getFeatureToggleDefinition(name)));
    await eventually(() => expect(names()).toEqual(following.map(() => [flag, lasting])));

    await Promise.all(platform.gateways.map((gateway) => gateway.stop()));
    await client.archive(featurePath(doomed, flag));
    expect((await admin('DELETE', `/api/admin/projects/${doomed}`)).status).toBe(200);
    await eventually(async () => {
      const { tokens } = (
        await admin<{ tokens: { tokenName: string; projects: string[] }[] }>('GET', '/api/admin/api-tokens')
      ).body;
      expect(tokens.find(({ tokenName }) => tokenName === 'modes of both')?.projects).toEqual([project]);
    });
    expect(names()).toEqual(following.map(() => [flag, lasting]));
    await Promise.all(platform.gateways.map((gateway) => gateway.start()));
    await eventually(() => expect(names()).toEqual(following.map(() => [lasting])));
    for (const sdk of following) endSdk(sdk);
  });

  it('goes where GATEWAY_SDK_FETCH_MODE sends it, and sees changes there', async () => {
    const [gateway] = platform.gateways;
    const cases: readonly (readonly [mode: 'polling' | 'streaming', asStarted: ExperimentalMode])[] = [
      ['streaming', { type: 'polling', format: 'full' }],
      ['streaming', { type: 'polling', format: 'delta' }],
      ['polling', { type: 'streaming' }],
    ];
    for (const [nth, [mode, asStarted]] of cases.entries()) {
      await gateway?.stop();
      await gateway?.start({ GATEWAY_SDK_FETCH_MODE: mode });
      await platform.allReady();
      const sdk = sdkAt(gateway?.url ?? '', `directed-${nth}`, asStarted);
      const directed = new Promise((resolve) => sdk['repository'].once(UnleashEvents.Mode, resolve));
      expect(await directed).toMatchObject({ to: mode });
      for (const to of ['off', 'on'] as const) {
        await toggle(to);
        await eventually(() => expect(sdk.isEnabled(changing)).toBe(to === 'on'));
      }
      endSdk(sdk);
    }
  });
});
