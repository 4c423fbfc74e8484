import { beforeAll, describe, expect, it } from 'vitest';
import { featurePath, platformClient } from '../../support/platform-client.ts';
import type { Platform } from '../../support/platform.ts';

const times = Array.from({ length: 30 }, (_, nth) => String(nth).padStart(2, '0'));

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
      for (const nth of times.slice(0, 10)) {
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
