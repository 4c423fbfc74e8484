import type { ChangeRequest } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { featurePath, platformClient } from '../../support/platform-client.ts';
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
