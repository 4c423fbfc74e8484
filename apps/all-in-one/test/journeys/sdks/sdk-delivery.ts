import type { ClientFeature, ClientFeatures, FeatureUsage } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { InMemStorageProvider, Unleash, UnleashEvents } from 'unleash-client';
import { type ApiResponse, expectRefusal, featurePath, platformClient, adminClient } from '../../support/clients.ts';
import { endSdk } from '../../sdks/ofrep-providers.ts';
import type { Platform } from '../../support/platform.ts';

const project = 'delivery';
const flag = (name: string): string => `delivery-${name}`;
const at = (name: string): string => featurePath(project, flag(name));

/** The features that applications evaluate, as Unleash's server SDK receives them. */
export const describeSdkDelivery = (platform: () => Platform): void => {
  describe("an application with Unleash's server SDK", () => {
    const client = () => platformClient(platform().api);
    const { apiToken } = adminClient(platform);
    const running: Unleash[] = [];
    let token: string;

    /** Starts the SDK as an application does, and waits for its first features. */
    const started = async (secret: string, appName: string, format: 'full' | 'delta' = 'full'): Promise<Unleash> => {
      const sdk = new Unleash({
        url: `${platform().url}/api`,
        appName,
        customHeaders: { Authorization: secret },
        refreshInterval: 25,
        metricsInterval: 0,
        storageProvider: new InMemStorageProvider(),
        skipInstanceCountWarning: true,
        experimentalMode: { type: 'polling', format },
      });
      running.push(sdk);
      await once(sdk, UnleashEvents.Synchronized);
      return sdk;
    };
    const create = async (name: string, strategy: object = {}): Promise<void> => {
      await client().createFeature(project, flag(name));
      await client().addStrategy(at(name), 'development', strategy);
      await client().toggle(at(name), 'development', 'on');
    };
    /** Makes a change, and waits until the SDK has polled it. */
    const afterNext = async (sdk: Unleash, change: () => Promise<unknown>): Promise<void> => {
      const changed = once(sdk, UnleashEvents.Changed);
      await change();
      await changed;
    };

    beforeAll(async () => {
      await client().createProject(project);
      token = (await apiToken('sdk-delivery', { projects: [project] })).secret;
    });
    afterEach(() => {
      for (const sdk of running.splice(0)) endSdk(sdk);
    });

    it('receives a change with its next poll, and downloads no state twice', async () => {
      await create('switched');
      const sdk = await started(token, 'delivery-shop');
      expect(sdk.isEnabled(flag('switched'))).toBe(true);
      await afterNext(sdk, () => client().toggle(at('switched'), 'development', 'off'));
      expect(sdk.isEnabled(flag('switched'))).toBe(false);
      await afterNext(sdk, () => client().toggle(at('switched'), 'development', 'on'));
      expect(sdk.isEnabled(flag('switched'))).toBe(true);
      await once(sdk, UnleashEvents.Unchanged);
      await afterNext(sdk, () => client().archive(at('switched')));
      expect(sdk.isEnabled(flag('switched'))).toBe(false);
    });

    it('follows features and segments by deltas, and removes archived features', async () => {
      const segment = await client().createSegment({
        name: 'delivery-delta',
        constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }],
      });
      await create('delta');
      const sdk = await started(token, 'delivery-delta', 'delta');
      const isOn = (userId: string) => sdk.isEnabled(flag('delta'), { userId });
      expect(isOn('8')).toBe(true);
      await afterNext(sdk, () => client().toggle(at('delta'), 'development', 'off'));
      expect(isOn('8')).toBe(false);
      await create('delta-segmented', { segments: [segment.id] });
      await eventually(async () => {
        const results = ['7', '8'].map((userId) => sdk.isEnabled(flag('delta-segmented'), { userId }));
        expect(results).toEqual([true, false]);
      });
      await afterNext(sdk, () => client().archive(at('delta-segmented')));
      expect(sdk.getFeatureToggleDefinitions().map(({ name }) => name)).not.toContain(flag('delta-segmented'));
    });

    it('evaluates constraints, segments, rollouts, variants and parents as configured', async () => {
      const byUser = { contextName: 'userId', operator: 'IN', values: ['7'] } as const;
      const segment = await client().createSegment({
        name: 'delivery-north',
        constraints: [{ contextName: 'userId', operator: 'IN', values: ['7', '8'] }],
      });
      const allUsers = { rollout: '100', stickiness: 'default', groupId: 'delivery' };
      await create('constrained', { constraints: [byUser], parameters: allUsers });
      await create('segmented', { segments: [segment.id], parameters: allUsers });
      await create('shared', { parameters: { ...allUsers, rollout: '50' } });
      await create('varied', {
        parameters: allUsers,
        variants: [
          {
            name: 'blue',
            weight: 1000,
            weightType: 'variable',
            stickiness: 'default',
            payload: { type: 'string', value: '#00f' },
          },
        ],
      });
      await create('child');
      await platform().api('POST', `${at('child')}/dependencies`, { feature: flag('constrained') });

      const sdk = await started(token, 'delivery-cases');
      const isOn = (name: string, userId: string) => sdk.isEnabled(flag(name), { userId });
      expect([isOn('constrained', '7'), isOn('constrained', '8')]).toEqual([true, false]);
      expect([isOn('segmented', '7'), isOn('segmented', '8'), isOn('segmented', '9')]).toEqual([true, true, false]);
      const share = Array.from({ length: 200 }, (_, id) => isOn('shared', String(id))).filter((on) => on).length;
      expect(share).toBeGreaterThan(60);
      expect(share).toBeLessThan(140);
      expect(sdk.getVariant(flag('varied'), { userId: '7' })).toMatchObject({
        name: 'blue',
        payload: { type: 'string', value: '#00f' },
      });
      expect([isOn('child', '7'), isOn('child', '8')]).toEqual([true, false]);

      await afterNext(sdk, () =>
        platform().api('PUT', `/api/admin/segments/${segment.id}`, {
          name: 'delivery-north',
          constraints: [{ contextName: 'userId', operator: 'IN', values: ['9'] }],
        }),
      );
      expect([isOn('segmented', '7'), isOn('segmented', '9')]).toEqual([false, true]);
    });

    it('registers and reports its evaluations, which the Admin API shows', async () => {
      await create('counted');
      const sdk = await started(token, 'delivery-counting');
      for (let nth = 0; nth < 3; nth++) sdk.isEnabled(flag('counted'));
      await sdk.flushMetrics();
      const { body } = await platform().api<FeatureUsage>(
        'GET',
        `/api/admin/client-metrics/features/${flag('counted')}`,
      );
      expect(body).toMatchObject({
        lastHourUsage: [{ environment: 'development', yes: 3, no: 0 }],
        seenApplications: ['delivery-counting'],
      });
    });

    it('receives only the projects and the environment of its token', async () => {
      const elsewhere = 'delivery-elsewhere';
      await client().createProject(elsewhere, { mode: 'private' });
      await client().createFeature(elsewhere, elsewhere);
      await create('own');
      const other = await apiToken('sdk-delivery-production', { projects: [elsewhere], environment: 'production' });
      const sdk = await started(token, 'delivery-own');
      const names = sdk.getFeatureToggleDefinitions().map(({ name }) => name);
      expect(names).toContain(flag('own'));
      expect(names).not.toContain(elsewhere);
      const [theirs] = (await started(other.secret, 'delivery-theirs')).getFeatureToggleDefinitions();
      expect(theirs).toMatchObject({ name: elsewhere, enabled: false, strategies: [] });
    });
  });

  describe('the client features', () => {
    const client = () => platformClient(platform().api);
    const { apiToken } = adminClient(platform);
    const name = 'delivery-read';
    const path = '/api/client/features';
    let token: string;
    const send = <T = ClientFeatures>(more = '', headers: Record<string, string> = {}): Promise<ApiResponse<T>> =>
      platform().api<T>('GET', `${path}${more}`, undefined, { authorization: token, ...headers });

    beforeAll(async () => {
      await client().createProject(name);
      await client().createFeature(name, name);
      token = (await apiToken(name, { projects: [name] })).secret;
    });

    it('have an ETag, and are not sent again to a client that has them', async () => {
      const first = await send();
      expect(first.body).toMatchObject({ version: 2, features: [{ name, enabled: false }] });
      const tag = first.headers.get('etag') ?? '';
      expect(first.body.meta.etag).toBe(tag);
      for (const known of [tag, `W/${tag}`]) {
        const { status, text, headers } = await send('', { 'if-none-match': known });
        expect({ status, text, tag: headers.get('etag') }).toEqual({ status: 304, text: '', tag });
      }
      await client().addStrategy(featurePath(name, name), 'development');
      const changed = await send('', { 'if-none-match': tag });
      expect(changed.status).toBe(200);
      expect(changed.headers.get('etag')).not.toBe(tag);
      const { status } = await platform().api('POST', `${featurePath(name, name)}/favorites`, {});
      const again = await send('', { 'if-none-match': changed.headers.get('etag') ?? '' });
      expect([status < 500, again.status]).toEqual([true, 304]);
    });

    it('can be read one by one, and are refused to tokens of other projects and kinds', async () => {
      expect((await send<ClientFeature>(`/${name}`)).body).toMatchObject({ name, project: name });
      expectRefusal(
        await send('/delivery-absent'),
        404,
        'NotFoundError',
        'Could not find feature flag delivery-absent',
      );
      expectRefusal(await send('?tag=nonsense'), 400, 'ValidationError', '/query/tag/0');
      const frontend = await apiToken('sdk-delivery-browser', { type: 'frontend' });
      expectRefusal(await send('', { authorization: frontend.secret }), 403, 'NoAccessError', 'CLIENT');
      expectRefusal(await send('', { authorization: '*:development.unknown' }), 401, 'AuthenticationRequired');
    });
  });
};
