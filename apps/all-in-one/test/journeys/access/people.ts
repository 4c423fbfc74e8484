import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  CreatedPat,
  CreatedUser,
  EnvironmentList,
  EnvironmentListOfProject,
  Group,
  InstanceStatistics,
  Me,
  Pats,
  Profile,
  ProjectOverview,
  Projects,
  RoleWithPermissions,
  SearchFeaturesResponse,
  Segment,
  UiConfig,
  UserRoles,
} from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import {
  adminClient,
  apiOf,
  expectRefusal,
  featurePath,
  imageUrl,
  platformClient,
  projectRole,
  rootRole,
} from '../../support/clients.ts';
import type { Platform } from '../../support/platform.ts';

/** Users, their keys, and the roles that grant their permissions. */
export const describePeople = (platform: () => Platform): void => {
  const { expectSuccess, apiToken, createUser, createServiceAccount, eventsAbout } = adminClient(platform);
  const statusOf = async (request: Promise<{ readonly status: number }>): Promise<number> => (await request).status;

  describe('a user', () => {
    it('is shown by the name as creator and collaborator of a feature, and by the e-mail address in events', async () => {
      const names = { username: 'people-zoe', name: 'Zoë Berg', email: 'zoe@people.example' };
      const { id } = await expectSuccess<CreatedUser>('POST', 'user-admin', { ...names, rootRole: rootRole.editor });
      const { secret } = await expectSuccess<CreatedPat>('POST', `user-admin/${id}/token`, { description: 'key' });
      const zoe = apiOf(platform().url, secret);
      await platformClient(zoe).createFeature('default', 'people-signed');

      const shown = { id, name: 'Zoë Berg', imageUrl };
      const feature = await platformClient(zoe).getFeature(featurePath('default', 'people-signed'));
      expect(feature.createdBy).toEqual(shown);
      expect(feature.collaborators).toEqual({ users: [shown] });
      const search = `/api/admin/search/features?createdBy=${encodeURIComponent('IS:Zoë Berg')}`;
      const { features } = (await zoe<SearchFeaturesResponse>('GET', search)).body;
      expect(features.map(({ name, createdBy }) => [name, createdBy])).toEqual([['people-signed', shown]]);
      const [created] = await eventsAbout('people-signed', 'feature-created');
      expect(created).toMatchObject({ createdBy: 'zoe@people.example', createdByUserId: id });
    });

    it('is found in the event log by a part of the username, and by a part of the e-mail address', async () => {
      const names = { username: 'people-kaja', email: 'lind@people.example' };
      const { id } = await expectSuccess<CreatedUser>('POST', 'user-admin', { ...names, rootRole: rootRole.editor });
      const { secret } = await expectSuccess<CreatedPat>('POST', `user-admin/${id}/token`, { description: 'key' });
      const kaja = apiOf(platform().url, secret);
      await platformClient(kaja).createFeature('default', 'people-found');
      const proposal = { action: 'archiveFeature', feature: 'people-found' };
      const requests = '/api/admin/projects/default/environments/production/change-requests';
      expect((await kaja('POST', requests, proposal)).status).toBe(200);
      for (const query of ['Kaja', 'LIND@people']) {
        const { events } = await platformClient(platform().api).events({ query });
        const did = events.filter(({ createdByUserId }) => createdByUserId === id).map(({ type }) => type);
        expect(did).toEqual(['change-added', 'change-request-created', 'feature-created']);
      }
    });

    it('is created by an administrator with a first token and a root role, and creates further tokens', async () => {
      const { id, key, api } = await createUser('people-ann', rootRole.editor);
      const { body: pat, status } = await api<CreatedPat>('POST', '/api/admin/user/tokens', {
        description: 'people laptop',
        expiresAt: '2040-01-01T00:00:00.000Z',
      });
      expect({ status, pat }).toMatchObject({ status: 201, pat: { userId: id, description: 'people laptop' } });
      expect(pat.secret).toMatch(/^user:[0-9a-f]{56,}$/);

      const withPat = apiOf(platform().url, `Bearer ${pat.secret}`);
      expect((await withPat<Me>('GET', '/api/admin/user')).body.user).toMatchObject({ id, username: 'people-ann' });
      expect((await withPat<Profile>('GET', '/api/admin/user/profile')).body).toMatchObject({
        rootRole: { name: 'Editor' },
      });
      const made = await withPat<Segment>('POST', '/api/admin/segments', { name: 'people-segment', constraints: [] });
      expect(made.status).toBe(201);
      expectRefusal(await withPat('GET', '/api/admin/user-admin'), 403, 'NoAccessError', 'ADMIN');

      const { pats } = (await withPat<Pats>('GET', '/api/admin/user/tokens')).body;
      expect(pats.map(({ description }) => description)).toEqual(['first key', 'people laptop']);
      expect(await statusOf(api('DELETE', `/api/admin/user/tokens/${pat.id}`))).toBe(200);
      expectRefusal(await withPat('GET', '/api/admin/user'), 401, 'AuthenticationRequired');

      const events = await eventsAbout('people-ann');
      expect(events.map(({ type, createdBy }) => [type, createdBy])).toEqual([
        ['user-created', 'admin'],
        ['pat-created', 'people-ann'],
        ['segment-created', 'people-ann'],
        ['pat-deleted', 'people-ann'],
      ]);
      for (const secret of [key, pat.secret]) expect(JSON.stringify(events)).not.toContain(secret.slice(20));
    });

    it('gains and loses permissions with the root role from the next request on, and all of them when deleted', async () => {
      const { id, api } = await createUser('people-bob');
      const create = (name: string) => api('POST', '/api/admin/segments', { name, constraints: [] });
      expectRefusal(await create('people-bob-1'), 403, 'NoAccessError', 'CREATE_SEGMENT');
      await expectSuccess('PUT', `user-admin/${id}`, { rootRole: rootRole.editor });
      expect(await statusOf(create('people-bob-1'))).toBe(201);
      await expectSuccess('PUT', `user-admin/${id}`, { rootRole: 'Viewer' });
      expectRefusal(await create('people-bob-2'), 403, 'NoAccessError', 'CREATE_SEGMENT');
      await expectSuccess('DELETE', `user-admin/${id}`);
      expectRefusal(await create('people-bob-3'), 401, 'AuthenticationRequired');
      const types = (await eventsAbout('people-bob', 'user-created', 'user-updated', 'user-deleted')).map(
        ({ type }) => type,
      );
      expect(types).toEqual(['user-created', 'user-updated', 'user-updated', 'user-deleted']);
    });
  });

  describe('a service account', () => {
    it('acts under its own name with a token that an administrator creates', async () => {
      const { id, key, api } = await createServiceAccount('people-robot', rootRole.editor);
      expect(await statusOf(api('POST', '/api/admin/segments', { name: 'people-robots', constraints: [] }))).toBe(201);
      const [made] = await eventsAbout('people-robots', 'segment-created');
      expect(made).toMatchObject({ createdBy: 'people-robot', createdByUserId: id });
      const tokens = await expectSuccess<Pats>('GET', `service-account/${id}/token`);
      expect(tokens.pats).toMatchObject([{ description: 'first key', userId: id }]);
      await expectSuccess('DELETE', `service-account/${id}/token/${tokens.pats[0]?.id}`);
      expectRefusal(await api('GET', '/api/admin/user'), 401, 'AuthenticationRequired');
      const events = await eventsAbout('people-robot', 'service-account-created', 'pat-created', 'pat-deleted');
      expect(events[0]).toMatchObject({ type: 'service-account-created', data: { username: 'people-robot' } });
      expect(JSON.stringify(events)).not.toContain(key.slice(20));
    });
  });

  describe('a custom role', () => {
    const role = (name: string, type: string, permissions: object[]) =>
      expectSuccess<RoleWithPermissions>('POST', 'roles', { name, type, description: 'of a journey', permissions });

    it('grants exactly its permissions in every project, before and after a change of the role', async () => {
      const { id } = await role('People tagger', 'root-custom', [{ name: 'CREATE_TAG_TYPE' }]);
      const { api } = await createUser('people-tagger', id);
      const tagType = (name: string) => ({ name, description: '', icon: '' });
      expect(await statusOf(api('POST', '/api/admin/tag-types', tagType('people-a')))).toBe(201);
      for (const [method, path, body, wanted] of [
        ['PUT', 'tag-types/people-a', { description: 'x', icon: '' }, 'UPDATE_TAG_TYPE'],
        ['DELETE', 'tag-types/people-a', undefined, 'DELETE_TAG_TYPE'],
        ['POST', 'segments', { name: 'people-no', constraints: [] }, 'CREATE_SEGMENT'],
        ['POST', 'context', { name: 'people-no' }, 'CREATE_CONTEXT_FIELD'],
        ['POST', 'projects', { id: 'people-no', name: 'no' }, 'CREATE_PROJECT'],
        ['POST', 'projects/default/features', { name: 'people-no' }, 'CREATE_FEATURE'],
        ['GET', 'roles', undefined, 'READ_ROLE'],
      ] as const) {
        expectRefusal(await api(method, `/api/admin/${path}`, body), 403, 'NoAccessError', wanted);
      }
      const now = [{ name: 'UPDATE_TAG_TYPE' }];
      await expectSuccess('PUT', `roles/${id}`, { name: 'People tagger', type: 'root-custom', permissions: now });
      expectRefusal(await api('POST', '/api/admin/tag-types', tagType('people-b')), 403, 'NoAccessError');
      expect(await statusOf(api('PUT', '/api/admin/tag-types/people-a', { description: 'y', icon: '' }))).toBe(200);
      const events = await eventsAbout('People tagger', 'role-created', 'role-updated');
      expect(events).toMatchObject([
        { type: 'role-created', createdBy: 'admin', data: { name: 'People tagger' } },
        { type: 'role-updated', data: { permissions: now }, preData: { permissions: [{ name: 'CREATE_TAG_TYPE' }] } },
      ]);
    });

    it('grants exactly its permissions in one project or environment', async () => {
      const client = platformClient(platform().api);
      const [here, elsewhere] = ['people-here', 'people-else'];
      for (const project of [here, elsewhere]) {
        await client.createProject(project);
        await client.createFeature(project, `${project}-flag`);
        // Turning on a flag without a strategy adds one, which needs another permission.
        for (const environment of ['development', 'production'])
          await client.addStrategy(featurePath(project, `${project}-flag`), environment);
      }
      const { id } = await role('People toggler', 'custom', [
        { name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'development' },
        { name: 'CREATE_FEATURE' },
      ]);
      const toggler = await createUser('people-toggler');
      await expectSuccess('PUT', `projects/${here}/users/${toggler.id}/roles`, { roles: [id] });

      const toggle = (project: string, environment: string) =>
        toggler.api('POST', `${featurePath(project, `${project}-flag`)}/environments/${environment}/on`);
      expect(await statusOf(toggle(here, 'development'))).toBe(200);
      expectRefusal(await toggle(here, 'production'), 403, 'NoAccessError', 'UPDATE_FEATURE_ENVIRONMENT');
      expectRefusal(await toggle(elsewhere, 'development'), 403, 'NoAccessError', 'UPDATE_FEATURE_ENVIRONMENT');

      const create = (project: string) =>
        toggler.api('POST', `/api/admin/projects/${project}/features`, { name: `${project}-new` });
      expect(await statusOf(create(here))).toBe(201);
      expectRefusal(await create(elsewhere), 403, 'NoAccessError', 'CREATE_FEATURE');
      const flag = featurePath(here, `${here}-new`);
      expectRefusal(await toggler.api('PUT', flag, { description: 'x' }), 403, 'NoAccessError', 'UPDATE_FEATURE');
      expectRefusal(await toggler.api('DELETE', flag), 403, 'NoAccessError', 'DELETE_FEATURE');
      expectRefusal(
        await toggler.api('POST', `${flag}/environments/development/strategies`, { name: 'default' }),
        403,
        'NoAccessError',
        'CREATE_FEATURE_STRATEGY',
      );

      const roles = `/api/admin/user/roles?projectId=${here}`;
      const { roles: held } = (await toggler.api<UserRoles>('GET', roles)).body;
      expect(held).toMatchObject([{ id, name: 'People toggler' }]);
    });
  });

  describe('access to a project', () => {
    it('is granted by a role of the user or of a group, and ends immediately with either', async () => {
      const client = platformClient(platform().api);
      const project = 'people-access';
      await client.createProject(project);
      const { id, api } = await createUser('people-cid');
      let made = 0;
      const create = () => api('POST', `/api/admin/projects/${project}/features`, { name: `${project}-${++made}` });
      const refused = async () => expectRefusal(await create(), 403, 'NoAccessError', 'CREATE_FEATURE');

      await refused();
      await expectSuccess('POST', `projects/${project}/access`, {
        roles: [projectRole.member],
        users: [id],
        groups: [],
      });
      expect(await statusOf(create())).toBe(201);
      await expectSuccess('DELETE', `projects/${project}/users/${id}/roles`);
      await refused();

      const group = { name: 'People crew', users: [{ user: { id } }] };
      const { id: crew } = await expectSuccess<Group>('POST', 'groups', group);
      await refused();
      await expectSuccess('PUT', `projects/${project}/groups/${crew}/roles`, { roles: [projectRole.member] });
      expect(await statusOf(create())).toBe(201);
      await expectSuccess('PUT', `groups/${crew}`, { ...group, users: [] });
      await refused();
      await expectSuccess('PUT', `groups/${crew}`, group);
      expect(await statusOf(create())).toBe(201);
      await expectSuccess('DELETE', `projects/${project}/groups/${crew}/roles`);
      await refused();
      await expectSuccess('PUT', `projects/${project}/groups/${crew}/roles`, { roles: [projectRole.owner] });
      expect(await statusOf(create())).toBe(201);
      await expectSuccess('DELETE', `groups/${crew}`);
      await refused();

      const { events } = await client.events({ project });
      const access = events.toReversed().flatMap(({ type }) => (type.startsWith('project-access') ? [type] : []));
      expect(access).toEqual([
        'project-access-added',
        'project-access-user-roles-deleted',
        'project-access-group-roles-updated',
        'project-access-group-roles-deleted',
        'project-access-group-roles-updated',
      ]);
      const groups = (await eventsAbout('People crew')).map(({ type }) => type);
      expect(groups).toEqual(expect.arrayContaining(['group-created', 'group-updated', 'group-deleted']));
    });

    it('is shown as counts and owners of projects and environments', async () => {
      const { api, createProject } = { api: platform().api, ...platformClient(platform().api) };
      const project = 'people-owned';
      await createProject(project);
      const { id } = await createUser('people-owner');
      const shown = async () => (await api<ProjectOverview>('GET', `/api/admin/projects/${project}/overview`)).body;
      expect(await shown()).toMatchObject({ members: 0, owners: [{ ownerType: 'system' }] });
      await expectSuccess('PUT', `projects/${project}/users/${id}/roles`, { roles: [projectRole.owner] });
      await apiToken('people-owned', { projects: [project] });
      expect(await shown()).toMatchObject({ members: 1, owners: [{ ownerType: 'user', name: 'people-owner' }] });
      const { projects } = (await api<Projects>('GET', '/api/admin/projects')).body;
      expect(projects.find((one) => one.id === project)).toMatchObject({
        memberCount: 1,
        owners: [{ name: 'people-owner' }],
      });
      const there = (await api<EnvironmentListOfProject>('GET', `/api/admin/environments/project/${project}`)).body;
      const everywhere = (await api<EnvironmentList>('GET', '/api/admin/environments')).body;
      const inDevelopment = there.environments.find((one) => one.name === 'development')?.projectApiTokenCount ?? 0;
      expect(inDevelopment).toBeGreaterThan(0);
      expect(everywhere.environments.find((one) => one.name === 'development')?.apiTokenCount).toBeGreaterThanOrEqual(
        inDevelopment,
      );
    });
  });
};

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
