import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  CreateProject,
  DeleteFeature,
  ArchiveFeature,
  DigestStateVersions,
  ListStateVersions,
  ReadStates,
} from '@bunting/contracts';
import { aFeature } from '../../../test/builders.ts';
import { type StartedFeatures, startFeatures } from '../../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  await features.call(CreateProject, { body: { id: 'shop', name: 'Shop' } });
  for (const name of ['one', 'Two', 'three']) await features.create(name);
  await features.given(aFeature({ name: 'of-the-shop', project: 'shop' }));
});
afterAll(() => features.stop());

const digests = (limit = 100, after = '') =>
  features.call(DigestStateVersions, { body: { entity: 'feature', after, limit } });

it('returns a digest of each project that differs after any change', async () => {
  const { groups, next } = await digests();
  expect(groups).toEqual([
    { group: 'default', count: 3, digest: expect.any(String) },
    { group: 'shop', count: 1, digest: expect.any(String) },
  ]);
  expect(next).toBeNull();
  await features.create('four');
  const after = await digests();
  expect(after.groups[0]?.digest).not.toBe(groups[0]?.digest);
  expect(after.groups[1]).toEqual(groups[1]);
});

it('returns the digests of projects page by page', async () => {
  const first = await digests(1);
  expect(first).toMatchObject({ groups: [{ group: 'default' }], next: 'default' });
  expect(await digests(1, 'default')).toMatchObject({ groups: [{ group: 'shop' }], next: 'shop' });
  expect(await digests(1, 'shop')).toEqual({ groups: [], next: null });
});

it('lists the versions of states in byte order, of all projects or of one', async () => {
  const list = async (after: string, limit: number, project?: string) =>
    (
      await features.call(ListStateVersions, {
        body: { entity: 'feature', after, limit, ...(project === undefined ? {} : { project }) },
      })
    ).versions.map(({ id }) => id);
  expect(await list('', 100)).toEqual(['Two', 'four', 'of-the-shop', 'one', 'three']);
  expect(await list('four', 2)).toEqual(['of-the-shop', 'one']);
  expect(await list('', 100, 'shop')).toEqual(['of-the-shop']);
});

it('returns states as they were emitted, and deleted ones with their last version', async () => {
  await features.create('short-lived');
  const path = { projectId: 'default', featureName: 'short-lived' };
  await features.call(ArchiveFeature, { params: path });
  await features.call(DeleteFeature, { params: { featureName: 'short-lived' } });
  const ids = ['one', 'short-lived', 'never-there'];
  const { states } = await features.call(ReadStates, { body: { entity: 'feature', ids } });
  const emitted = (await features.states('feature')).findLast(({ id }) => id === 'one');
  expect(states).toHaveLength(3);
  expect(states).toContainEqual({ id: 'one', version: emitted?.version, state: emitted?.state });
  expect(states).toContainEqual({ id: 'short-lived', version: 3, state: null });
  expect(states).toContainEqual({ id: 'never-there', version: null, state: null });
});
