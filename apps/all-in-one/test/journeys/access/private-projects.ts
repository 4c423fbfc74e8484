import type { Events, Feature, FeatureEvents, Projects, SearchFeaturesResponse, Segments } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  apiOf,
  expectRefusal,
  featurePath,
  platformClient,
  adminClient,
  type TestUser,
  projectRole,
  rootRole,
} from '../../support/clients.ts';
import type { Platform } from '../../support/platform.ts';

/** A private project is visible to its members only, in every list, total and event. */
export const describePrivateProjects = (platform: () => Platform): void => {
  describe('a private project', () => {
    const { expectSuccess, createUser } = adminClient(platform);
    const [project, flag] = ['private-vault', 'private-flag'];
    const secret = /private-(vault|flag|segment)/;
    let stranger: TestUser;
    let member: TestUser;

    const search = async ({ api }: TestUser, query = '') =>
      (await api<SearchFeaturesResponse>('GET', `/api/admin/search/features${query}`)).body;
    const eventsOf = async ({ api }: TestUser, criteria: object = {}) =>
      (await api<Events>('POST', '/api/admin/events/search', criteria)).body;

    beforeAll(async () => {
      const client = platformClient(platform().api);
      [stranger, member] = [await createUser('private-stranger'), await createUser('private-insider')];
      await client.createProject(project, { mode: 'private' });
      await client.createFeature(project, flag, { description: 'private-flag of the vault' });
      await client.addTag(flag, 'simple', 'private-tag');
      await client.createSegment({ name: 'private-segment', project });
      await client.toggle(featurePath(project, flag), 'development', 'on');
      await expectSuccess('PUT', `projects/${project}/users/${member.id}/roles`, { roles: [projectRole.reader] });
    });

    it('is a 404 for callers who are not members, like a project that does not exist', async () => {
      for (const path of [
        `projects/${project}`,
        `projects/${project}/overview`,
        `projects/${project}/features`,
        `projects/${project}/features/${flag}`,
        `projects/${project}/environments`,
        `features/${flag}/tags`,
      ]) {
        const nowhere = path.replaceAll(project, 'private-nofun').replaceAll(flag, 'private-flog');
        const [there, absent] = [
          await stranger.api('GET', `/api/admin/${path}`),
          await stranger.api('GET', `/api/admin/${nowhere}`),
        ];
        expect([path, there.status]).toEqual([path, absent.status]);
        expect(there.status === 200 ? there.text : '').not.toMatch(secret);
      }
      expectRefusal(await stranger.api('GET', featurePath(project, flag)), 404, 'NotFoundError');
    });

    it('is in no list, search, total or count of callers who are not members', async () => {
      for (const path of [
        'projects',
        'search/features',
        `search/features?project=IS:${project}`,
        `search/features?query=${flag}`,
        'search/features?tag=INCLUDE:simple:private-tag',
        'search/events',
        'events/feed',
        'event-creators',
        'segments',
        'archive/features',
        'search/change-requests',
        'metrics/applications',
      ]) {
        const { text } = await stranger.api('GET', `/api/admin/${path}`);
        expect([path, secret.exec(text.replaceAll('private-stranger', '').replaceAll('private-insider', ''))]).toEqual([
          path,
          null,
        ]);
      }
      expect(await search(stranger, `?project=IS:${project}`)).toMatchObject({ features: [], total: 0 });
      expect(await search(stranger, `?query=${flag}`)).toMatchObject({ features: [], total: 0 });
      expect(await eventsOf(stranger, { project })).toMatchObject({ events: [], totalEvents: 0 });
      expect(await eventsOf(stranger, { feature: flag })).toMatchObject({ events: [], totalEvents: 0 });
      expect(await eventsOf(stranger, { query: 'private-flag' })).toMatchObject({ events: [], totalEvents: 0 });
      // A further hidden flag changes no total.
      const numbers = async () => [(await search(stranger)).total, (await eventsOf(stranger)).totalEvents];
      const before = await numbers();
      await platformClient(platform().api).createFeature(project, `${flag}-2`);
      expect(await numbers()).toEqual(before);
    });

    it('is complete for a member: the project, its flags, their totals and their events', async () => {
      const { projects } = (await member.api<Projects>('GET', '/api/admin/projects')).body;
      expect(projects.map(({ id }) => id)).toContain(project);
      const { body: feature } = await member.api<Feature>('GET', featurePath(project, flag));
      expect(feature).toMatchObject({ name: flag, project, tags: [{ type: 'simple', value: 'private-tag' }] });
      const found = await search(member, `?project=IS:${project}&query=${flag}`);
      expect(found.total).toBe(found.features.length);
      expect(found.features.map(({ name }) => name)).toContain(flag);
      const emitted = await eventsOf(member, { project });
      expect(emitted.totalEvents).toBe(emitted.events.length);
      expect(emitted.events.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['project-created', 'feature-created', 'feature-tagged', 'feature-environment-enabled']),
      );
      const { body: ofFlag } = await member.api<FeatureEvents>('GET', `/api/admin/events/${flag}`);
      expect(ofFlag.events.length).toBeGreaterThan(2);
      const { segments = [] } = (await member.api<Segments>('GET', '/api/admin/segments')).body;
      expect(segments.map(({ name }) => name)).toContain('private-segment');
      // The permission to read does not include changes.
      const change = await member.api('PUT', featurePath(project, flag), { description: 'x' });
      expectRefusal(change, 403, 'NoAccessError', 'UPDATE_FEATURE');
    });

    it('stays hidden after its deletion, with its id, its events and its applications', async () => {
      const client = platformClient(platform().api);
      const [merger, target] = ['private-merger', 'private-target'];
      await client.createProject(merger, { mode: 'private' });
      await client.createFeature(merger, target, { description: 'private-target of the merger' });
      const appName = 'private-merger-app';
      const { secret } = await expectSuccess<{ secret: string }>('POST', 'api-tokens', {
        tokenName: 'private-merger',
        type: 'client',
        environment: 'development',
        projects: [merger],
      });
      const register = { appName, strategies: [], started: new Date().toISOString(), interval: 1000 };
      expect((await apiOf(platform().url, secret)('POST', '/api/client/register', register)).status).toBe(202);
      await expectSuccess('PUT', `projects/${merger}/users/${member.id}/roles`, { roles: [projectRole.owner] });
      await expectSuccess('DELETE', `projects/${merger}/features/${target}`);
      await expectSuccess('DELETE', `archive/${target}`);
      await expectSuccess('DELETE', `projects/${merger}`);

      const administrator = platform().api;
      const all = (await administrator<Events>('POST', '/api/admin/events/search', { project: merger })).body;
      expect(all.events.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['feature-created', 'project-deleted']),
      );
      const apps = await administrator('GET', '/api/admin/metrics/applications');
      expect(apps.text).toContain(appName);
      for (const who of [stranger, member]) {
        for (const criteria of [{ project: merger }, { feature: target }, { query: target }])
          expect(await eventsOf(who, criteria)).toMatchObject({ events: [], totalEvents: 0 });
        for (const path of [
          'events',
          `events/${target}`,
          'events/feed',
          `search/events?project=IS:${merger}`,
          'event-creators',
          'metrics/applications',
        ]) {
          const { text } = await who.api('GET', `/api/admin/${path}`);
          // The response may repeat the name in the request, and nothing else.
          const shown = text.replace(`"toggleName":"${target}"`, '');
          expect([path, /private-(merger|target)/.exec(shown)]).toEqual([path, null]);
        }
        expectRefusal(await who.api('GET', `/api/admin/metrics/applications/${appName}`), 404, 'NotFoundError');
      }
    });

    it('keeps its id after its deletion: for callers other than administrators the id is taken', async () => {
      const client = platformClient(platform().api);
      const id = 'private-reserved';
      await client.createProject(id, { mode: 'private' });
      await expectSuccess('DELETE', `projects/${id}`);
      const editor = await createUser('private-editor', rootRole.editor);
      const mine = { id, name: 'Mine' };
      expectRefusal(await editor.api('POST', '/api/admin/projects', mine), 409, 'NameExistsError', 'already exists');
      expectRefusal(await editor.api('POST', '/api/admin/projects/validate', { id }), 409, 'NameExistsError');
      expect((await editor.api('GET', `/api/admin/projects/${id}/overview`)).status).toBe(404);
      expect((await platform().api('POST', '/api/admin/projects', mine)).status).toBe(201);
    });

    it('is hidden from a removed member, and visible to all users once it is open', async () => {
      const client = platformClient(platform().api);
      const other = 'private-opened';
      await client.createProject(other, { mode: 'private' });
      await client.createFeature(other, 'private-opened-flag');
      const sees = async ({ api }: TestUser) => (await api('GET', featurePath(other, 'private-opened-flag'))).status;
      const counted = async (who: TestUser) => (await search(who, `?project=IS:${other}`)).total;
      await expectSuccess('PUT', `projects/${other}/users/${member.id}/roles`, { roles: [projectRole.member] });
      expect([await sees(member), await counted(member), await sees(stranger)]).toEqual([200, 1, 404]);
      await expectSuccess('DELETE', `projects/${other}/users/${member.id}/roles`);
      expect([await sees(member), await counted(member)]).toEqual([404, 0]);
      await expectSuccess('PUT', `projects/${other}/settings`, { mode: 'open' });
      expect([await sees(member), await counted(member), await sees(stranger)]).toEqual([200, 1, 200]);
      await expectSuccess('PUT', `projects/${other}/settings`, { mode: 'private' });
      expect([await sees(stranger), await counted(stranger)]).toEqual([404, 0]);
    });
  });
};
