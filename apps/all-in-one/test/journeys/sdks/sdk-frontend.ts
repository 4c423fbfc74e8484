import type { FeatureUsage, FrontendFeatures } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { type IMutableContext, InMemoryStorageProvider, UnleashClient } from 'unleash-proxy-client';
import { expectRefusal } from '../../support/expectations.ts';
import { featurePath, platformClient } from '../../support/platform-client.ts';
import { adminClient } from '../../support/admin-client.ts';
import type { Platform } from '../../support/platform.ts';

const project = 'frontend';
const flag = (name: string): string => `frontend-${name}`;
const at = (name: string): string => featurePath(project, flag(name));

/** The frontend API, as Unleash's browser SDK uses it. */
export const describeSdkFrontend = (platform: () => Platform): void => {
  describe("a web page with Unleash's browser SDK", () => {
    const client = () => platformClient(platform().api);
    const { apiToken } = adminClient(platform);
    let token: string;

    const create = async (name: string, strategy: object = {}): Promise<void> => {
      await client().createFeature(project, flag(name));
      await client().addStrategy(at(name), 'development', strategy);
      await client().toggle(at(name), 'development', 'on');
    };
    /** The SDK for one user. It polls only when a test requests it. */
    const sdkFor = async (context: IMutableContext, usePOSTrequests: boolean): Promise<UnleashClient> => {
      const sdk = new UnleashClient({
        url: `${platform().url}/api/frontend`,
        clientKey: token,
        appName: 'frontend-page',
        context,
        usePOSTrequests,
        disableRefresh: true,
        disableMetrics: true,
        storageProvider: new InMemoryStorageProvider(),
      });
      sdk.on('error', (error: unknown) => {
        throw error;
      });
      await sdk.start();
      return sdk;
    };

    beforeAll(async () => {
      await client().createProject(project);
      token = (await apiToken('sdk-frontend', { type: 'frontend', projects: [project] })).secret;
      const allUsers = { rollout: '100', stickiness: 'default', groupId: 'frontend' };
      await platform().api('POST', '/api/admin/context', { name: 'country' });
      const north = await client().createSegment({
        name: 'frontend-north',
        constraints: [{ contextName: 'country', operator: 'IN', values: ['no', 'se'] }],
      });
      await create('north', { segments: [north.id], parameters: allUsers });
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
      await create('child', { parameters: allUsers });
      await platform().api('POST', `${at('child')}/dependencies`, { feature: flag('north') });
      await create('switched', { parameters: allUsers });
    });

    it.each([
      ['in the address', false],
      ['in the body', true],
    ])('receives the features that are on for its user and later changes, with the context %s', async (_, usePost) => {
      const sdk = await sdkFor({ userId: '7', properties: { country: 'no' } }, usePost);
      const isOn = (...names: string[]) => names.map((name) => sdk.isEnabled(flag(name)));
      expect(isOn('north', 'varied', 'child', 'switched', 'absent')).toEqual([true, true, true, true, false]);
      expect(sdk.getVariant(flag('varied'))).toMatchObject({
        name: 'blue',
        payload: { type: 'string', value: '#00f' },
      });
      await sdk.updateContext({ userId: '7', properties: { country: 'fr' } });
      expect(isOn('north', 'varied', 'child')).toEqual([false, true, false]);
      await client().toggle(at('switched'), 'development', 'off');
      await sdk.updateToggles();
      expect(isOn('switched')).toEqual([false]);
      await client().toggle(at('switched'), 'development', 'on');
      await sdk.updateToggles();
      expect(isOn('switched')).toEqual([true]);
      sdk.stop();
    });

    it('reports its evaluations, also beside impossible names, and the Admin API shows them', async () => {
      const counts = { yes: 2, no: 0, variants: { blue: 2, ['__proto__']: 1 } };
      // A name that no flag can have, as of a page that evaluates what its user has typed, loses none of the other counts.
      const toggles = { [flag('varied')]: counts, ['__proto__']: counts, '\0': counts, 'a\ud83d': counts };
      const bucket = { start: new Date(), stop: new Date(), toggles };
      const headers = { authorization: token };
      const metrics = { appName: 'frontend-counting', instanceId: 'browser', bucket };
      const reported = await platform().api('POST', '/api/frontend/client/metrics', metrics, headers);
      const application = { appName: 'frontend-counting', strategies: [], started: new Date(), interval: 10 };
      const registered = await platform().api('POST', '/api/frontend/client/register', application, headers);
      expect([reported, registered]).toMatchObject(Array(2).fill({ status: 200, text: 'OK' }));
      const { body } = await platform().api<FeatureUsage>(
        'GET',
        `/api/admin/client-metrics/features/${flag('varied')}`,
      );
      expect(body).toMatchObject({
        lastHourUsage: [{ environment: 'development', yes: 2, no: 0 }],
        seenApplications: ['frontend-counting'],
      });
    });

    it('may come from any origin, and receives neither constraints nor features that are off', async () => {
      const send = (path: string, headers: Record<string, string | null> = {}) =>
        platform().api<FrontendFeatures>('GET', path, undefined, { authorization: token, ...headers });
      const response = await send('/api/frontend?userId=7', { origin: 'https://shop.example.org' });
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.body.toggles.map(({ name }) => name)).toEqual([flag('switched'), flag('varied')]);
      expect(response.body.toggles[1]).toEqual({
        name: flag('varied'),
        enabled: true,
        impressionData: false,
        variant: {
          name: 'blue',
          enabled: true,
          payload: { type: 'string', value: '#00f' },
          feature_enabled: true,
          featureEnabled: true,
        },
      });
      const again = await send('/api/frontend?userId=7', { 'if-none-match': response.headers.get('etag') });
      expect(again.status).toBe(304);
      const preflight = await platform().api('OPTIONS', '/api/frontend', undefined, {
        authorization: null,
        origin: 'https://shop.example.org',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization,unleash-appname,unleash-connection-id,unleash-sdk',
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-headers')).toMatch(/Unleash-Connection-Id/);
    });

    it.each([
      ['a list', { userId: '7', properties: { country: 'no', list: ['a'], object: { a: 1 } } }],
      ['names that are reserved', { userId: '7', country: 'no', ['__proto__']: 'x', constructor: { prototype: 1 } }],
      ['a text that was cut within a character', { userId: '7', country: 'no', name: '\ud83d' }],
    ])('gets its features for the rest of a context with %s', async (_, context) => {
      const send = () =>
        platform().api<FrontendFeatures>('POST', '/api/frontend', { context }, { authorization: token });
      const { status, body } = await send();
      expect([status, body.toggles?.map(({ name }) => name)]).toMatchObject([
        200,
        expect.arrayContaining([flag('north')]),
      ]);
    });

    it('is refused with a token of another kind', async () => {
      const client = await apiToken('sdk-frontend-client', { projects: [project] });
      const request = (authorization: string | null) =>
        platform().api('GET', '/api/frontend', undefined, { authorization });
      expectRefusal(await request(client.secret), 403, 'NoAccessError', 'FRONTEND');
      expectRefusal(await request(null), 401, 'AuthenticationRequired');
      const elsewhere = await apiToken('sdk-frontend-elsewhere', { type: 'frontend', projects: ['default'] });
      const { body } = await platform().api<FrontendFeatures>('GET', '/api/frontend?userId=7', undefined, {
        authorization: elsewhere.secret,
      });
      expect(body.toggles.filter(({ name }) => name.startsWith('frontend-'))).toEqual([]);
    });
  });
};
