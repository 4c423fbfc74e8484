import type { InstanceStatistics, UiConfig } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expectRefusal } from '../../support/expectations.ts';
import { featurePath, platformClient } from '../../support/platform-client.ts';
import type { Platform } from '../../support/platform.ts';
import { adminClient } from '../../support/admin-client.ts';

/** The settings of the installation, which user interfaces read and administrators change. */
export const describeInstance = (platform: () => Platform): void => {
  describe('the instance', () => {
    const { expectSuccess, createUser } = adminClient(platform);
    const statistics = () => expectSuccess<InstanceStatistics>('GET', 'instance-admin/statistics');

    it('describes its name, version, limits and origins to the user interface of Unleash', async () => {
      const config = await expectSuccess<UiConfig>('GET', 'ui-config');
      expect(config).toMatchObject({
        name: 'Bunting',
        baseUriPath: '',
        frontendApiOrigins: ['*'],
        versionInfo: { current: { enterprise: '6.4.1' }, isLatest: true },
        resourceLimits: { segments: 300, apiTokens: 2000, environments: 50, featureFlags: 2_147_483_647 },
        segmentValuesLimit: 1000,
        authenticationType: 'enterprise',
        disablePasswordAuth: false,
        emailEnabled: false,
        maxImportBytes: 10_485_760,
      });
      expect((await expectSuccess<UiConfig>('GET', 'ui-config')).versionInfo).toEqual(config.versionInfo);
      expect(await expectSuccess('GET', 'telemetry/settings')).toEqual({
        versionInfoCollectionEnabled: false,
        featureInfoCollectionEnabled: false,
      });
      expect(await expectSuccess('GET', 'maintenance')).toEqual({ enabled: false });
    });

    it('refuses to change origins that come from a setting, and names the setting', async () => {
      const set = (frontendApiOrigins: string[]) =>
        platform().api('POST', '/api/admin/ui-config', { frontendSettings: { frontendApiOrigins } });
      expect((await set(['*'])).status).toBe(200);
      expectRefusal(await set(['https://shop.example']), 403, 'InvalidOperationError', 'GATEWAY_FRONTEND_CORS_ORIGINS');
    });

    it('returns the statistics of every service to administrators only', async () => {
      const client = platformClient(platform().api);
      await client.createProject('counted');
      await client.createFeature('counted', 'counted-flag');
      await client.createFeature('counted', 'counted-gone');
      const before = await statistics();
      await client.archive(featurePath('counted', 'counted-gone'));
      await client.addStrategy(featurePath('counted', 'counted-flag'), 'production');
      await client.createSegment({ name: 'counted-segment' });
      const viewer = await createUser('counted-person');
      await expectSuccess('POST', 'service-account', { username: 'counted-robot', rootRole: 3 });
      await expectSuccess('POST', 'groups', { name: 'counted-group' });
      await expectSuccess('POST', 'api-tokens', { tokenName: 'counted', type: 'frontend', environment: 'development' });
      const after = await statistics();
      const grown = (member: keyof InstanceStatistics) => (after[member] as number) - (before[member] as number);
      expect({
        users: grown('users'),
        serviceAccounts: grown('serviceAccounts'),
        groups: grown('groups'),
        segments: grown('segments'),
        projects: grown('projects'),
        featureToggles: grown('featureToggles'),
        archivedFeatureToggles: grown('archivedFeatureToggles'),
        frontend: after.apiTokens.frontend - before.apiTokens.frontend,
        production: after.productionChanges.last30 - before.productionChanges.last30,
      }).toEqual({
        users: 1,
        serviceAccounts: 1,
        groups: 1,
        segments: 1,
        projects: 0,
        featureToggles: -1,
        archivedFeatureToggles: 1,
        frontend: 1,
        production: 1,
      });
      const csv = await platform().api('GET', '/api/admin/instance-admin/statistics/csv');
      expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      const [names = '', values = ''] = csv.text.split('\r\n');
      expect(names.split(',')).toEqual(Object.keys(after).map((name) => `"${name}"`));
      expect(values).toContain(`"${after.instanceId}"`);
      expectRefusal(await viewer.api('GET', '/api/admin/instance-admin/statistics'), 403, 'NoAccessError', 'ADMIN');
    });

    it('says in its statistics whether users can sign in with OpenID Connect', async () => {
      const provider = createServer((_request, response) => response.end(JSON.stringify(discovery())));
      const discovery = () => {
        const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
        return {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
        };
      };
      await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
      const store = (settings: object) => expectSuccess('POST', 'auth/oidc/settings', settings);
      try {
        expect(await statistics()).toMatchObject({ OIDCenabled: false, SAMLenabled: false });
        await store({ enabled: true, discoverUrl: discovery().issuer, clientId: 'bunting', secret: 'of the client' });
        expect(await statistics()).toMatchObject({ OIDCenabled: true, SAMLenabled: false });
      } finally {
        await store({ enabled: false });
        provider.close();
      }
    });
  });
};
