import type { ApiToken, ApiTokens, Event } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../support/api.ts';
import { expectRefusal } from '../../support/expectations.ts';
import { platformClient } from '../../support/platform-client.ts';
import { adminClient, projectRole } from '../../support/admin-client.ts';
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
