import { randomUUID } from 'node:crypto';
import type { ChangeRequest, FeatureStrategy, FeatureWithoutEnvironments } from '@bunting/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  adminClient,
  type Api,
  apiOf,
  type ApiResponse,
  expectRefusal,
  featurePath,
  platformClient,
  projectRole,
} from '../../support/clients.ts';
import { type CuttingProxy, startCuttingProxy } from '../../support/connections.ts';
import type { Platform } from '../../support/platform.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, nth) => nth);

/** Concurrent writes to the same object: every acknowledged write is stored. */
export const describeConcurrency = (platform: () => Platform): void => {
  describe('concurrent requests', () => {
    const project = 'parallel';
    const client = () => platformClient(platform().api);

    beforeAll(async () => {
      await client().createProject(project);
    });

    it('that patch one strategy lose no update', async () => {
      await client().createFeature(project, 'parallel-patched');
      const address = featurePath(project, 'parallel-patched');
      const { id } = await client().addStrategy(address, 'development', { parameters: { rollout: '50' } });
      const constraint = (nth: number) => ({ contextName: 'userId', operator: 'IN', values: [`user-${nth}`] });
      const patches = [
        ...numbers(25).map((nth) => ({ op: 'add', path: `/parameters/p${nth}`, value: `v${nth}` })),
        ...numbers(13).map((nth) => ({ op: 'add', path: '/constraints/-', value: constraint(nth) })),
        { op: 'replace', path: '/title', value: 'Together' },
        { op: 'replace', path: '/parameters/rollout', value: '75' },
      ];
      expect(patches).toHaveLength(40);
      await Promise.all(patches.map((patch) => client().patchStrategy(address, 'development', id, [patch])));

      const { environments } = await client().getFeature(address);
      const strategy = environments?.[0]?.strategies?.[0];
      expect(strategy?.title).toBe('Together');
      expect(strategy?.parameters).toMatchObject({
        rollout: '75',
        ...Object.fromEntries(numbers(25).map((nth) => [`p${nth}`, `v${nth}`])),
      });
      expect(strategy?.constraints?.flatMap(({ values }) => values ?? []).toSorted()).toEqual(
        numbers(13)
          .map((nth) => `user-${nth}`)
          .toSorted(),
      );

      const { events } = await client().events({ feature: 'parallel-patched', type: 'feature-strategy-update' });
      expect(events).toHaveLength(40);
      // Each event begins with the state in which the previous one ended: no update was lost.
      for (const [nth, { preData }] of events.slice(0, -1).entries()) expect(preData).toEqual(events[nth + 1]?.data);
      expect(events[0]?.data).toEqual(strategy);
    });

    it('that create the same feature create it once', async () => {
      const responses = await Promise.all(
        numbers(10).map(() =>
          platform().api('POST', `/api/admin/projects/${project}/features`, { name: 'parallel-created' }),
        ),
      );
      expect(responses.map(({ status }) => status).toSorted()).toEqual([201, ...numbers(9).map(() => 409)]);
      expect(await client().eventTypes({ feature: 'parallel-created' })).toEqual(['feature-created']);
    });

    it('that turn on the same feature add one default strategy', async () => {
      await client().createFeature(project, 'parallel-on');
      const address = featurePath(project, 'parallel-on');
      await Promise.all(numbers(10).map(() => client().toggle(address, 'development', 'on')));
      const { environments } = await client().getFeature(address);
      expect(environments?.[0]?.strategies).toHaveLength(1);
      expect(await client().eventTypes({ feature: 'parallel-on' })).toEqual([
        'feature-created',
        'feature-strategy-add',
        'feature-environment-enabled',
      ]);
    });

    it('that add tags, some of them twice, store each tag once', async () => {
      await client().createFeature(project, 'parallel-tagged');
      await Promise.all(numbers(20).map((nth) => client().addTag('parallel-tagged', 'simple', `parallel-${nth % 10}`)));
      const { tags } = await client().getFeature(featurePath(project, 'parallel-tagged'));
      expect(tags?.map(({ value }) => value).toSorted()).toEqual(numbers(10).map((nth) => `parallel-${nth}`));
    });

    it('that propose changes add them to one change request', async () => {
      const features = numbers(10).map((nth) => `parallel-proposed-${nth}`);
      for (const name of features) await client().createFeature(project, name);
      const path = `/api/admin/projects/${project}/environments/development/change-requests`;
      const responses = await Promise.all(
        features.map((feature) =>
          platform().api<ChangeRequest>('POST', path, { action: 'updateEnabled', feature, payload: { enabled: true } }),
        ),
      );
      expect(responses.map(({ status }) => status)).toEqual(features.map(() => 200));
      expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1);
      const { body } = await platform().api<ChangeRequest[]>(
        'GET',
        `/api/admin/projects/${project}/change-requests/pending`,
      );
      expect(body.flatMap((request) => request.features.map(({ name }) => name)).toSorted()).toEqual(features);
    });

    it('are in the event log once each, with ascending ids', async () => {
      const names = numbers(40).map((nth) => `parallel-many-${nth}`);
      await Promise.all(names.map((name) => client().createFeature(project, name)));
      const { events, totalEvents } = await client().events({
        project,
        type: 'feature-created',
        query: 'parallel-many-',
      });
      expect(events.map(({ featureName }) => featureName as string).toSorted()).toEqual(names.toSorted());
      expect(totalEvents).toBe(40);
      const ids = events.map(({ id }) => id);
      expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => b - a));
    });
  });
};

const times = Array.from({ length: 8 }, (_, nth) => String(nth).padStart(2, '0'));

/** Every write is visible to the next read, in any service: no test here waits. */
export const describeReadYourWrites = (platform: () => Platform): void => {
  describe('a client that has written', () => {
    const project = 'fresh';
    const client = () => platformClient(platform().api);
    const namesFound = async (parameters: Record<string, string>): Promise<string[]> => {
      const { features } = await client().search({ project: `IS:${project}`, limit: '100', ...parameters });
      return features.map(({ name }) => name);
    };

    beforeAll(async () => {
      await client().createProject(project);
    });

    it('finds a new feature and its event immediately', async () => {
      for (const nth of times) {
        const name = `fresh-new-${nth}`;
        await client().createFeature(project, name);
        expect(await namesFound({ query: name })).toEqual([name]);
        expect(await client().eventTypes({ feature: name })).toEqual(['feature-created']);
      }
    });

    it('finds a feature by its new tag immediately, and no longer once the tag is removed', async () => {
      await client().createFeature(project, 'fresh-tagged');
      for (const nth of times) {
        await client().addTag('fresh-tagged', 'simple', `nr-${nth}`);
        expect(await namesFound({ tag: `INCLUDE:simple:nr-${nth}` })).toEqual(['fresh-tagged']);
        await platform().api('DELETE', `/api/admin/features/fresh-tagged/tags/simple/nr-${nth}`);
        expect(await namesFound({ tag: `INCLUDE:simple:nr-${nth}` })).toEqual([]);
        expect(await client().eventTypes({ feature: 'fresh-tagged', limit: 1 })).toEqual(['feature-untagged']);
      }
    });

    it('finds a feature by its new state immediately', async () => {
      await client().createFeature(project, 'fresh-toggled');
      const address = featurePath(project, 'fresh-toggled');
      for (const nth of times) {
        const to = Number(nth) % 2 === 0 ? 'on' : 'off';
        await client().toggle(address, 'production', to);
        expect(await namesFound({ status: 'production:enabled' })).toEqual(to === 'on' ? ['fresh-toggled'] : []);
      }
    });

    it('finds a patch and its event immediately', async () => {
      await client().createFeature(project, 'fresh-patched');
      const address = featurePath(project, 'fresh-patched');
      const { id } = await client().addStrategy(address, 'development');
      for (const nth of times) {
        const title = `Version ${nth}`;
        await client().patchStrategy(address, 'development', id, [{ op: 'replace', path: '/title', value: title }]);
        const { events } = await client().events({ feature: 'fresh-patched', limit: 1 });
        expect(events).toMatchObject([{ type: 'feature-strategy-update', data: { title } }]);
        const { environments } = await client().getFeature(address);
        expect(environments?.[0]?.strategies?.[0]?.title).toBe(title);
      }
    });

    it('no longer finds an archived feature among the active ones', async () => {
      await client().createFeature(project, 'fresh-archived');
      await client().archive(featurePath(project, 'fresh-archived'));
      expect(await namesFound({ query: 'fresh-archived' })).toEqual([]);
      expect(await namesFound({ query: 'fresh-archived', archived: 'true' })).toEqual(['fresh-archived']);
    });

    it('finds its new change request immediately', async () => {
      await client().createFeature(project, 'fresh-proposed');
      // The log has no order between services: otherwise the event of the write could follow those of change requests.
      expect((await client().events({ project, limit: 1 })).events[0]?.type).toBe('feature-created');
      for (const nth of times) {
        const at = `/api/admin/projects/${project}`;
        const change = {
          action: 'updateEnabled',
          feature: 'fresh-proposed',
          payload: { enabled: Number(nth) % 2 === 0 },
        };
        await platform().api('POST', `${at}/environments/development/change-requests`, change);
        const { body } = await platform().api('GET', `${at}/change-requests/pending`);
        expect(body).toMatchObject([{ features: [{ changes: [{ payload: change.payload }] }] }]);
        const emitted = await client().events({ project, limit: 1 });
        expect(emitted.events[0]?.type).toBe(nth === '00' ? 'change-added' : 'change-edited');
      }
    });
  });
};

const features = 8;
const strategiesEach = 10;
const clients = 12;

/** Runs the jobs, as many concurrently as there are clients. */
const runConcurrently = async (jobs: readonly (() => Promise<void>)[]): Promise<void> => {
  const remaining = jobs.values();
  const worker = async (): Promise<void> => {
    for (const job of remaining) await job();
  };
  await Promise.all(Array.from({ length: clients }, worker));
};

/** Writes that a client can retry safely: a lost response is replayed. */
export const describeSafeWrites = (platform: () => Platform): void => {
  describe('a write with an Idempotency-Key', () => {
    const project = 'safe';
    const client = () => platformClient(platform().api);
    let proxy: CuttingProxy;
    let overBadNetwork: Api;

    beforeAll(async () => {
      await client().createProject(project);
      proxy = await startCuttingProxy(platform().url);
      overBadNetwork = apiOf(proxy.url, platform().token);
    });
    afterAll(() => proxy.stop());

    it('has one effect each time that it is retried after the connection was cut after the commit', async () => {
      const names = Array.from({ length: features }, (_, nth) => `safe-${nth}`);
      for (const name of names) await client().createFeature(project, name);
      const returnedIds = new Map(names.map((name) => [name, new Set<string>()]));
      const write = (name: string) => async () => {
        const address = `${featurePath(project, name)}/environments/development/strategies`;
        const request = ['POST', address, { name: 'flexibleRollout' }, { 'idempotency-key': randomUUID() }] as const;
        await expect(overBadNetwork(...request)).rejects.toThrow();
        const retry = await platform().api<FeatureStrategy>(...request);
        expect(retry.status).toBe(200);
        returnedIds.get(name)?.add(String(retry.body.id));
      };
      await runConcurrently(names.flatMap((name) => Array.from({ length: strategiesEach }, () => write(name))));

      expect(proxy.cutResponses).toBe(features * strategiesEach);
      for (const name of names) {
        const { environments } = await client().getFeature(featurePath(project, name));
        const stored = environments?.[0]?.strategies?.map(({ id }) => String(id));
        expect(stored).toHaveLength(strategiesEach);
        expect(new Set(stored)).toEqual(returnedIds.get(name));
      }
      const { totalEvents } = await client().events({ project, type: 'feature-strategy-add', limit: 1 });
      expect(totalEvents).toBe(features * strategiesEach);
    });

    it('is replayed with the same status, headers and body, and marked as a replay', async () => {
      const request = ['POST', `/api/admin/projects/${project}/features`, { name: 'safe-again' }] as const;
      const headers = { 'idempotency-key': randomUUID() };
      const first = await platform().api<FeatureWithoutEnvironments>(...request, headers);
      const again = await platform().api<FeatureWithoutEnvironments>(...request, headers);
      expect(first.status).toBe(201);
      expect(first.headers.get('idempotency-replayed')).toBeNull();
      expect({ status: again.status, text: again.text }).toEqual({ status: 201, text: first.text });
      expect(again.headers.get('location')).toBe(first.headers.get('location'));
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expectRefusal(await platform().api(...request), 409, 'NameExistsError');
    });

    it('creates one secret, which is the same in the replay', async () => {
      const request = { tokenName: 'safe-token', type: 'client', environment: 'development', projects: ['*'] };
      const headers = { 'idempotency-key': randomUUID() };
      const make = () => platform().api<{ secret: string }>('POST', '/api/admin/api-tokens', request, headers);
      const [first, again] = [await make(), await make()];
      expect({ status: first.status, text: again.text }).toEqual({ status: 201, text: first.text });
      expect(first.body.secret).toMatch(/^\S{32,}$/);
      const { body } = await platform().api<{ tokens: { tokenName: string }[] }>('GET', '/api/admin/api-tokens');
      expect(body.tokens.filter(({ tokenName }) => tokenName === 'safe-token')).toHaveLength(1);
    });

    it('is refused with a different body or an invalid key', async () => {
      const address = `/api/admin/projects/${project}/features`;
      const headers = { 'idempotency-key': randomUUID() };
      await platform().api('POST', address, { name: 'safe-one' }, headers);
      const other = await platform().api('POST', address, { name: 'safe-other' }, headers);
      expectRefusal(other, 422, 'IdempotencyKeyReused', 'Idempotency-Key');
      for (const key of ['', 'two words', 'k'.repeat(256)]) {
        const response = await platform().api('POST', address, { name: 'safe-none' }, { 'idempotency-key': key });
        expectRefusal(response, 400, 'ValidationError', 'Idempotency-Key');
      }
    });

    it('is replayed only while the caller still has the permission and sees the object', async () => {
      const { expectSuccess, createUser } = adminClient(platform);
      const hidden = 'safe-hidden';
      await client().createProject(hidden, { mode: 'private' });
      await client().createFeature(hidden, 'safe-hidden-flag');
      const { id, api } = await createUser('safe-person');
      await expectSuccess('PUT', `projects/${project}/users/${id}/roles`, { roles: [projectRole.member] });
      const roles = (projectRoles: number[]) =>
        expectSuccess('PUT', `projects/${hidden}/users/${id}/roles`, { roles: projectRoles });
      const writes = [
        // The first URL contains the project. For the second, the service has to read the project of the feature.
        ['POST', `${featurePath(hidden, 'safe-hidden-flag')}/environments/development/strategies`, { name: 'default' }],
        ['POST', '/api/admin/features/safe-hidden-flag/tags', { type: 'simple', value: 'safe-tag' }],
      ] as const;
      const keys = writes.map(() => ({ 'idempotency-key': randomUUID() }));
      const send = () => Promise.all(writes.map(([method, path, body], nth) => api(method, path, body, keys[nth])));
      const { eventTypes } = client();

      await roles([projectRole.member]);
      const first = await send();
      expect(first.map(({ status }) => status)).toEqual([200, 201]);
      const emitted = await eventTypes({ project: hidden });
      expect((await send()).map(({ text }) => text)).toEqual(first.map(({ text }) => text));

      await roles([projectRole.reader]);
      for (const response of await send()) expectRefusal(response, 403, 'NoAccessError');
      await roles([]);
      // A hidden project in the URL is refused with a 403, and an object of a hidden project with a 404.
      const [byProjectUrl, byFeature] = (await send()) as [ApiResponse, ApiResponse];
      expectRefusal(byProjectUrl, 403, 'NoAccessError');
      expectRefusal(byFeature, 404, 'NotFoundError', hidden);
      await roles([projectRole.owner]);
      expect((await send()).map(({ text }) => text)).toEqual(first.map(({ text }) => text));
      expect((await eventTypes({ project: hidden })).filter((type) => !type.startsWith('project-access'))).toEqual(
        emitted.filter((type) => !type.startsWith('project-access')),
      );
    });

    it('has one effect when it is sent concurrently', async () => {
      const feature = featurePath(project, 'safe-at-once');
      await client().createFeature(project, 'safe-at-once');
      const send = (key: string) =>
        platform().api<FeatureStrategy>(
          'POST',
          `${feature}/environments/development/strategies`,
          { name: 'default' },
          { 'idempotency-key': key },
        );
      const keys = Array.from({ length: 8 }, () => randomUUID());
      const ids = await Promise.all(
        keys.map(async (key) => {
          const sent = await Promise.all(Array.from({ length: 5 }, () => send(key)));
          const { body } = await send(key);
          for (const response of sent) {
            if (response.status === 200) expect(response.body).toEqual(body);
            else {
              expectRefusal(response, 409, 'ConflictError', 'Idempotency-Key');
              expect(response.headers.get('retry-after')).toBe('1');
            }
          }
          return body.id;
        }),
      );
      const { environments } = await client().getFeature(feature);
      expect(environments?.[0]?.strategies?.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    });
  });
};
