import { beforeAll, expect, it } from 'vitest';
import { AddFeatureLink, CloneFeature, RemoveFeatureLink, UpdateFeatureLink } from '@bunting/contracts';
import { lee, mia, useFeatures } from '../../test/started-features.ts';

const features = useFeatures();
beforeAll(async () => {
  await features.create('lamp');
});

const params = { projectId: 'default', featureName: 'lamp' };
const add = (url: string, caller = mia) => features.call(AddFeatureLink, { params, body: { url } }, caller);
const linksOf = async (name: string) => (await features.get(name)).links;

it('returns the links of a feature, does not clone them, and changes them only with UPDATE_FEATURE', async () => {
  expect(await linksOf('lamp')).toEqual([]);
  await add('a.example');
  await add('b.example');
  const [first, second] = (await linksOf('lamp')) ?? [];
  expect(first).toEqual({ id: expect.any(String), url: 'https://a.example/', title: null });
  const at = (linkId = '') => ({ params: { ...params, linkId } });
  await features.call(UpdateFeatureLink, { ...at(first?.id), body: { url: 'c.example', title: 'C' } });
  await features.call(RemoveFeatureLink, at(second?.id));
  expect(await linksOf('lamp')).toEqual([{ ...first, url: 'https://c.example/', title: 'C' }]);

  await features.call(CloneFeature, { params, body: { name: 'copy' } });
  expect(await linksOf('copy')).toEqual([]);
  for (const refused of [
    () => add('d.example', lee),
    () => features.call(UpdateFeatureLink, { ...at(first?.id), body: { url: 'd.example' } }, lee),
    () => features.call(RemoveFeatureLink, at(first?.id), lee),
  ]) {
    await expect(refused()).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE'] });
  }
});

it('keeps all links that are added concurrently', async () => {
  await features.create('busy');
  const body = { url: 'a.example' };
  const busy = { params: { ...params, featureName: 'busy' }, body };
  const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => features.call(AddFeatureLink, busy)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  expect(await linksOf('busy')).toHaveLength(10);
});
