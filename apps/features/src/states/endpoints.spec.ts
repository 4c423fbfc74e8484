import { beforeAll, expect, it } from 'vitest';
import {
  CreateProject,
  CreateSegment,
  DeleteFeature,
  ArchiveFeature,
  ListStateVersions,
  ReadStates,
} from '@bunting/contracts';
import { aFeature } from '../../test/builders.ts';
import { useFeatures } from '../../test/started-features.ts';

const features = useFeatures();
beforeAll(async () => {
  await features.call(CreateProject, { body: { id: 'shop', name: 'Shop' } });
  for (const name of ['one', 'Two', 'three']) await features.create(name);
  await features.given(aFeature({ name: 'of-the-shop', project: 'shop' }));
  for (const name of ['young', 'old']) await features.call(CreateSegment, { body: { name, constraints: [] } });
});

const list = async (after: string, limit: number) =>
  (await features.call(ReadStates, { body: { entity: 'feature', after, limit } })).states;

it('lists states page by page in byte order', async () => {
  const ids = async (after: string, limit: number) => (await list(after, limit)).map(({ id }) => id);
  expect(await ids('', 100)).toEqual(['Two', 'of-the-shop', 'one', 'three']);
  expect(await ids('Two', 2)).toEqual(['of-the-shop', 'one']);
  expect(await ids('three', 2)).toEqual([]);
});

it.each(['feature', 'segment'] as const)('lists the versions of each %s as its states have them', async (entity) => {
  const { states } = await features.call(ReadStates, { body: { entity, after: '', limit: 100 } });
  const versions = async (after: string, limit: number) =>
    (await features.call(ListStateVersions, { body: { entity, after, limit } })).versions;
  expect(states.length).toBeGreaterThan(1);
  expect(await versions('', 100)).toEqual(states.map(({ id, version }) => ({ id, version })));
  expect(await versions(states[0]?.id ?? '', 1)).toEqual([{ id: states[1]?.id, version: states[1]?.version }]);
});

it('lists states as they were emitted, and no deleted ones', async () => {
  await features.create('short-lived');
  await features.call(ArchiveFeature, { params: { projectId: 'default', featureName: 'short-lived' } });
  await features.call(DeleteFeature, { params: { featureName: 'short-lived' } });
  const states = await list('', 100);
  const emitted = (await features.states('feature')).findLast(({ id }) => id === 'one');
  expect(states).toContainEqual({ id: 'one', version: emitted?.version, state: emitted?.state });
  expect(states.map(({ id }) => id)).not.toContain('short-lived');
});
