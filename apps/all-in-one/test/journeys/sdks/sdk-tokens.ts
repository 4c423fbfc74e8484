import type { ApiToken, ApiTokens, Event, FeatureUsage, FrontendFeatures } from '@bunting/contracts';
import { type IMutableContext, InMemoryStorageProvider, UnleashClient } from 'unleash-proxy-client';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  adminClient,
  type ApiResponse,
  expectRefusal,
  featurePath,
  platformClient,
  projectRole,
} from '../../support/clients.ts';
import type { Platform } from '../../support/platform.ts';

/** The tokens of applications: their format, their permissions, and their expiry and deletion. */
export const describeSdkTokens = (platform: () => Platform): void => {
  describe('an SDK token', () => {
    const { expectSuccess, apiToken, createUser, eventsAbout } = adminClient(platform);
    const [shop, bank] = ['sdk-shop', 'sdk-bank'];
    const at = (secret: string): string => `api-tokens/${encodeURIComponent(secret)}`;
    const listed = async (path = 'api-tokens'): Promise<readonly ApiToken[]> =>
      (await expectSuccess<ApiTokens>('GET', path)).tokens.filter(({ tokenName }) => tokenName.startsWith('sdk-'));
    const register = (key: string, appName = 'sdk-app'): Promise<ApiResponse> =>
      platform().api(
        'POST',
        '/api/client/register',
        { appName, instanceId: 'one', strategies: ['default'], started: '2026-11-21T10:00:00.000Z', interval: 10 },
        { authorization: key },
      );

    beforeAll(async () => {
      const client = platformClient(platform().api);
      await client.createProject(shop);
      await client.createProject(bank);
    });

    it.each([
      ['client', [shop], /^sdk-shop:development\.[0-9a-f]{56,}$/],
      ['client', [shop, bank], /^\[\]:development\.[0-9a-f]{56,}$/],
      ['client', ['*'], /^\*:development\.[0-9a-f]{56,}$/],
      ['frontend', [bank], /^sdk-bank:development\.[0-9a-f]{56,}$/],
    ])("(%s of %j) has Unleash's format, and its secret is shown once", async (...of) => {
      const [type, projects, format] = of;
      const tokenName = `sdk-${type}-${projects.join('-').replace('*', 'all')}`;
      const created = await apiToken(tokenName, { type, projects });
      expect(created).toMatchObject({ tokenName, type, projects, project: projects[0], environment: 'development' });
      expect(created.secret).toMatch(format);
      const listedToken = (await listed()).find((token) => token.tokenName === tokenName);
      expect(listedToken).toMatchObject({ tokenName, type, projects });
      expect(listedToken?.secret).toMatch(/\.{3}$/);
      const events = await eventsAbout(tokenName);
      expect(events).toMatchObject([
        { type: 'api-token-created', createdBy: 'admin', environment: 'development', data: { tokenName, type } },
      ]);
      const secretPart = created.secret.slice(created.secret.indexOf('.') + 13);
      expect(JSON.stringify([events, listedToken])).not.toContain(secretPart);
    });

    it('is accepted by the client API in every form of the header, and refused by the Admin API', async () => {
      const { secret } = await apiToken('sdk-register', { projects: [shop] });
      for (const key of [secret, `Bearer ${secret}`, `bearer  ${secret}`])
        expect((await register(key)).status).toBe(202);
      const { body } = await platform().api<{ usage: object[] }>('GET', '/api/admin/metrics/applications/sdk-app');
      expect(body.usage).toMatchObject([{ project: shop, environments: ['development'] }]);
      expectRefusal(
        await platform().api('GET', '/api/admin/projects', undefined, { authorization: secret }),
        403,
        'NoAccessError',
        'expected a different token type',
      );
      const frontend = await apiToken('sdk-browser', { type: 'frontend' });
      expectRefusal(await register(frontend.secret), 403, 'NoAccessError');
    });

    it('of an administrator is accepted for features, evaluations and reports of SDKs', async () => {
      const { api } = platform();
      expect(await api('GET', '/api/client/features')).toMatchObject({
        status: 200,
        body: { query: { environment: 'development' } },
      });
      expect(await api('GET', '/api/frontend')).toMatchObject({ status: 200, body: { toggles: expect.any(Array) } });
      const now = new Date().toISOString();
      const metrics = { appName: 'sdk-admin', bucket: { start: now, stop: now, toggles: { unknown: { yes: 1 } } } };
      expect((await api('POST', '/api/client/metrics', metrics)).status).toBe(202);
      expect((await api('POST', '/api/frontend/client/metrics', metrics)).status).toBe(200);
      const started = { appName: 'sdk-admin', strategies: ['default'], started: now, interval: 10 };
      expect((await api('POST', '/api/client/register', started)).status).toBe(202);
      const { body } = await api<{ usage: object[] }>('GET', '/api/admin/metrics/applications/sdk-admin');
      expect(body.usage).toEqual([{ project: '*', environments: ['development'] }]);
    });

    it('is refused immediately after its expiry and after its deletion', async () => {
      const [expiring, deleted] = [await apiToken('sdk-expiring'), await apiToken('sdk-deleted')];
      const { secret } = expiring;
      expect([(await register(secret)).status, (await register(deleted.secret)).status]).toEqual([202, 202]);
      await expectSuccess('PUT', at(secret), { expiresAt: '2040-01-01T00:00:00.000Z' });
      expect((await register(secret)).status).toBe(202);
      expect((await listed()).find(({ tokenName }) => tokenName === 'sdk-expiring')?.expiresAt).toBe(
        '2040-01-01T00:00:00.000Z',
      );
      await expectSuccess('PUT', at(secret), { expiresAt: '2020-01-01T00:00:00.000Z' });
      await expectSuccess('DELETE', at(deleted.secret));
      for (const key of [secret, deleted.secret]) expectRefusal(await register(key), 401, 'AuthenticationRequired');
      expect((await listed()).map(({ tokenName }) => tokenName)).not.toContain('sdk-deleted');
      const types = async (name: string) => (await eventsAbout(name)).map(({ type }: Event) => type);
      expect(await types('sdk-expiring')).toEqual(['api-token-created', 'api-token-updated', 'api-token-updated']);
      expect(await types('sdk-deleted')).toEqual(['api-token-created', 'api-token-deleted']);
    });

    it('is created and deleted by the owner of its project, and for no other project', async () => {
      const owner = await createUser('sdk-owner');
      await expectSuccess('PUT', `projects/${shop}/users/${owner.id}/roles`, { roles: [projectRole.owner] });
      const make = (project: string) =>
        owner.api<ApiToken>('POST', `/api/admin/projects/${project}/api-tokens`, {
          tokenName: 'sdk-owned',
          type: 'client',
          environment: 'development',
          projects: [project],
        });
      const { status, body } = await make(shop);
      expect({ status, body }).toMatchObject({ status: 201, body: { projects: [shop], type: 'client' } });
      expect((await register(body.secret)).status).toBe(202);
      expectRefusal(await make(bank), 403, 'NoAccessError', 'CREATE_PROJECT_API_TOKEN');
      const ofAll = await owner.api('POST', '/api/admin/api-tokens', { tokenName: 'sdk-x', type: 'client' });
      expectRefusal(ofAll, 403, 'NoAccessError', 'CREATE_CLIENT_API_TOKEN');

      const names = async (project: string) =>
        (await listed(`projects/${project}/api-tokens`)).map(({ tokenName }) => tokenName);
      expect(await names(shop)).toContain('sdk-owned');
      expect(await names(bank)).not.toContain('sdk-owned');
      const path = `/api/admin/projects/${shop}/api-tokens/${encodeURIComponent(body.secret)}`;
      expect((await owner.api('DELETE', path)).status).toBe(200);
      expectRefusal(await register(body.secret), 401, 'AuthenticationRequired');
      expect(await names(shop)).not.toContain('sdk-owned');
      expect(await eventsAbout('sdk-owned')).toMatchObject([
        { type: 'api-token-created', createdBy: 'sdk-owner', project: shop },
        { type: 'api-token-deleted', createdBy: 'sdk-owner', project: shop },
      ]);
    });
  });
};

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
      const sdk = { ...headers, 'unleash-sdk': 'unleash-js-sdk:3.8.2' };
      const reported = await platform().api('POST', '/api/frontend/client/metrics', metrics, sdk);
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
      // The SDK of browsers says its version in a header alone.
      const path = '/api/admin/metrics/applications/frontend-counting';
      expect((await platform().api('GET', path)).body).toMatchObject({ sdkVersion: 'unleash-js-sdk:3.8.2' });
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
