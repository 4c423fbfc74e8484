import { type Balancer, eventually, startBalancer, startNats, type TestNats, reservePort } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InMemStorageProvider, Unleash, UnleashEvents } from 'unleash-client';
import { apiOf } from '../support/api.ts';
import { endSdk } from '../support/end-sdk.ts';
import { featurePath, platformClient } from '../support/platform-client.ts';
import { type HostedPlatform, startHostedPlatform } from '../support/hosted-platform.ts';
import { adminClient } from '../support/admin-client.ts';
import { restartInTurn, type RestartableGateway, startGatewayAt } from '../support/restartable-gateway.ts';

const project = 'modes';
const changing = 'modes-changing';
const lasting = 'modes-lasting';
const at = featurePath(project, changing);

let nats: TestNats;
let platform: HostedPlatform;
let gateways: readonly RestartableGateway[];
let balancer: Balancer;
let secret: string;
/** the SDK in each of its modes, which reach the gateways through a load balancer */
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

const toggle = (to: 'on' | 'off') => platformClient(apiOf(platform.url, platform.token)).toggle(at, 'development', to);
const states = (name: string) => Object.fromEntries([...sdks].map(([mode, sdk]) => [mode, sdk.isEnabled(name)]));
const everyMode = (isOn: boolean) => ({ polling: isOn, delta: isOn, streaming: isOn });
const allSee = (isOn: boolean) => eventually(() => expect(states(changing)).toEqual(everyMode(isOn)));

beforeAll(async () => {
  nats = await startNats();
  const settings = {
    ...nats.settings,
    LOG_LEVEL: 'error',
    GATEWAY_TOKEN_KEY: 'a key that all gateways know, of 32 characters',
  };
  platform = await startHostedPlatform(settings);
  const { GATEWAY_DATABASE_URL = '', GATEWAY_TOKEN_KEY = '' } = platform.environment;
  const shared = { ...nats.settings, GATEWAY_DATABASE_URL, GATEWAY_TOKEN_KEY };
  gateways = [await startGatewayAt(await reservePort(), shared), await startGatewayAt(await reservePort(), shared)];
  balancer = await startBalancer(gateways.map(({ url }) => url));
  const client = platformClient(apiOf(platform.url, platform.token));
  await client.createProject(project);
  for (const name of [changing, lasting]) {
    await client.createFeature(project, name);
    await client.addStrategy(featurePath(project, name), 'development');
    await client.toggle(featurePath(project, name), 'development', 'on');
  }
  const { apiToken } = adminClient(() => ({ ...platform, api: apiOf(platform.url, platform.token) }));
  ({ secret } = await apiToken('modes', { projects: [project] }));
  await allReady();
  for (const [mode, experimentalMode] of [
    ['polling', { type: 'polling', format: 'full' }],
    ['delta', { type: 'polling', format: 'delta' }],
    ['streaming', { type: 'streaming' }],
  ] as const) {
    const sdk = sdkAt(balancer.url, `modes-${mode}`, experimentalMode);
    sdk['repository'].on(UnleashEvents.Mode, (change: unknown) => void modes.push(change));
    sdks.set(mode, sdk);
  }
  await allSee(true);
});
afterAll(async () => {
  for (const sdk of sdks.values()) endSdk(sdk);
  await balancer.stop();
  for (const gateway of gateways) await gateway.stop();
  await platform.stop();
  await nats.stop();
});

const allReady = () => eventually(() => expect(balancer.ready().length).toBe(gateways.length));

describe('the SDK of Unleash in every mode: polling, delta and streaming', () => {
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
    await restartInTurn(gateways, { away, back: allReady });
    expect(states(lasting)).toEqual(everyMode(true));
  });

  it('keeps a feature that moves to another project of its token', async () => {
    const [target, flag] = ['modes-target', 'modes-kept'];
    const admin = apiOf(platform.url, platform.token);
    const client = platformClient(admin);
    await client.createProject(target);
    await client.createFeature(project, flag);
    const { apiToken } = adminClient(() => ({ ...platform, api: admin }));
    const ofBoth = await apiToken('modes of source and target', { projects: [project, target] });
    const following = (
      [{ type: 'polling', format: 'full' }, { type: 'polling', format: 'delta' }, { type: 'streaming' }] as const
    ).map((mode) => sdkAt(balancer.url, `kept-${mode.type}`, mode, ofBoth.secret));
    const projects = () => following.map((sdk) => sdk.getFeatureToggleDefinition(flag)?.project);
    await eventually(() => expect(projects()).toEqual(following.map(() => project)));
    const move = { newProjectId: target };
    expect((await admin('POST', `${featurePath(project, flag)}/changeProject`, move)).status).toBe(200);
    await eventually(() => expect(projects()).toEqual(following.map(() => target)));
    for (const sdk of following) endSdk(sdk);
  });

  it('goes on with a project that is made private, and drops a feature that moves out of the projects of its token', async () => {
    const moving = 'modes-moving';
    const admin = apiOf(platform.url, platform.token);
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
    await nats.kill();
    await eventually(async () => {
      const response = await apiOf(gateways[0]?.url ?? '', platform.token)('GET', '/api/client/features');
      expect([response.status, response.headers.has('bunting-stale')]).toEqual([200, true]);
    });
    expect([states(lasting), states(changing)]).toEqual([everyMode(true), everyMode(false)]);
    await nats.restart();
    await eventually(() => toggle('on'));
    await allSee(true);
  });

  it('stays in its mode through all of that', () => {
    expect(modes).toEqual([]);
  });

  // From here on, SDKs may fall back to polling: they do after some failures in a minute.
  it('sees what changed while no gateway ran, once one runs again', async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await toggle('off');
    expect(states(lasting)).toEqual(everyMode(true));
    await Promise.all(gateways.map((gateway) => gateway.start()));
    await allSee(false);
  });

  it('drops the features of a project of its token that is deleted while no gateway runs', async () => {
    const doomed = 'modes-doomed';
    const flag = 'modes-doomed-flag';
    const admin = apiOf(platform.url, platform.token);
    const client = platformClient(admin);
    await client.createProject(doomed);
    await client.createFeature(doomed, flag);
    await client.toggle(featurePath(doomed, flag), 'development', 'on');
    const { apiToken } = adminClient(() => ({ ...platform, api: admin }));
    const ofBoth = await apiToken('modes of both', { projects: [project, doomed] });
    const following = (
      [{ type: 'polling', format: 'full' }, { type: 'polling', format: 'delta' }, { type: 'streaming' }] as const
    ).map((mode) => sdkAt(balancer.url, `doomed-${mode.type}`, mode, ofBoth.secret));
    const names = () => following.map((sdk) => [flag, lasting].filter((name) => sdk.getFeatureToggleDefinition(name)));
    await eventually(() => expect(names()).toEqual(following.map(() => [flag, lasting])));

    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await client.archive(featurePath(doomed, flag));
    expect((await admin('DELETE', `/api/admin/projects/${doomed}`)).status).toBe(200);
    await eventually(async () => {
      const { tokens } = (
        await admin<{ tokens: { tokenName: string; projects: string[] }[] }>('GET', '/api/admin/api-tokens')
      ).body;
      expect(tokens.find(({ tokenName }) => tokenName === 'modes of both')?.projects).toEqual([project]);
    });
    expect(names()).toEqual(following.map(() => [flag, lasting]));
    await Promise.all(gateways.map((gateway) => gateway.start()));
    await eventually(() => expect(names()).toEqual(following.map(() => [lasting])));
    for (const sdk of following) endSdk(sdk);
  });

  it('goes where GATEWAY_SDK_FETCH_MODE sends it, and sees changes there', async () => {
    const [gateway] = gateways;
    const cases: readonly (readonly [mode: 'polling' | 'streaming', asStarted: ExperimentalMode])[] = [
      ['streaming', { type: 'polling', format: 'full' }],
      ['streaming', { type: 'polling', format: 'delta' }],
      ['polling', { type: 'streaming' }],
    ];
    for (const [nth, [mode, asStarted]] of cases.entries()) {
      await gateway?.stop();
      await gateway?.start({ GATEWAY_SDK_FETCH_MODE: mode });
      await allReady();
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
