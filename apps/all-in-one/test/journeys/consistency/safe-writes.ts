import type { FeatureStrategy, FeatureWithoutEnvironments } from '@bunting/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { type ApiResponse, type Api, apiOf } from '../../support/api.ts';
import { type CuttingProxy, startCuttingProxy } from '../../support/cutting-proxy.ts';
import { expectRefusal } from '../../support/expectations.ts';
import { featurePath, platformClient } from '../../support/platform-client.ts';
import { adminClient, projectRole } from '../../support/admin-client.ts';
import type { Platform } from '../../support/platform.ts';

const features = 40;
const strategiesEach = 25;
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

    it('has one effect each of a thousand times that it is retried after the connection was cut after the commit', async () => {
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
