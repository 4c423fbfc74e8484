import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { AddFeatureTag, ListFeatureTags, RemoveFeatureTag, type Tag } from '@bunting/contracts';
import { aFeature } from '../../test/builders.ts';
import { lee, mia, callerWith, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  await features.create('checkout');
});
afterAll(() => features.stop());
beforeEach(() => features.clearOutbox());

const red: Tag = { type: 'simple', value: 'red' };
const add = (body: Tag, featureName = 'checkout', caller = mia) =>
  features.call(AddFeatureTag, { params: { featureName }, body }, caller);
const remove = ({ type, value }: Tag, featureName = 'checkout', caller = mia) =>
  features.call(RemoveFeatureTag, { params: { featureName, type, value } }, caller);
const tagsOf = async (featureName = 'checkout') =>
  (await features.call(ListFeatureTags, { params: { featureName } })).tags;
const emitted = async () =>
  (await features.emittedEvents()).map(({ type, data, preData, tags }) => ({ type, data, preData, tags }));

it('adds a tag to a feature and removes it, with the tags at that time in the events', async () => {
  expect(await add(red)).toEqual(red);
  expect(await add(red)).toEqual(red);
  expect(await tagsOf()).toEqual([red]);
  expect((await features.lastState('checkout'))?.tags).toEqual([red]);
  await remove(red);
  await remove(red);
  expect(await tagsOf()).toEqual([]);
  expect(await emitted()).toEqual([
    { type: 'tag-created', data: red, preData: null, tags: [] },
    { type: 'feature-tagged', data: red, preData: null, tags: [red] },
    { type: 'feature-untagged', data: null, preData: red, tags: [red] },
  ]);
  expect((await features.lastState('checkout'))?.tags).toEqual([]);
});

it('identifies a tag by its type and whole value', async () => {
  await add({ type: 'simple', value: 'a/b %2F ' });
  await remove({ type: 'simple', value: 'a/b %2F' });
  await remove({ type: 'SIMPLE', value: 'a/b %2F ' });
  expect(await tagsOf()).toEqual([{ type: 'simple', value: 'a/b %2F ' }]);
});

it('keeps two tags that are added concurrently', async () => {
  await features.create('busy');
  const tags = ['one', 'two', 'three', 'four'].map((value) => ({ type: 'simple', value }));
  await Promise.all(tags.map((tag) => add(tag, 'busy')));
  expect((await tagsOf('busy')).map(({ value }) => value)).toEqual(['four', 'one', 'three', 'two']);
});

it('refuses a tag of unknown type', async () => {
  await expect(add({ type: 'colour', value: 'red' })).rejects.toMatchObject({
    kind: 'ValidationError',
    message: "Tag type 'colour' does not exist: see the `/body/type` property.",
  });
  expect(await emitted()).toEqual([]);
});

it('tags archived features', async () => {
  await features.given(aFeature({ name: 'old', project: 'default', archivedAt: '2026-01-02T00:00:00.000Z' }));
  await add(red, 'old');
  expect(await tagsOf('old')).toEqual([red]);
});

it('replies 404 for an unknown feature to callers who may tag features of any project, and 403 to others', async () => {
  const elsewhere = callerWith({ permission: 'UPDATE_FEATURE', project: 'shop' });
  await expect(tagsOf('unknown')).rejects.toMatchObject({ message: 'Could not find feature with name unknown' });
  await expect(add(red, 'unknown')).rejects.toMatchObject({ message: 'Could not find feature with name unknown' });
  await expect(remove(red, 'unknown', elsewhere)).rejects.toMatchObject({
    kind: 'NotFoundError',
    message: 'No feature flag found',
  });
  for (const caller of [lee, elsewhere]) {
    await expect(remove(red, 'checkout', caller)).rejects.toMatchObject({ kind: 'NoAccessError' });
    await expect(add(red, 'checkout', caller)).rejects.toMatchObject({ kind: 'NoAccessError' });
  }
  await expect(remove(red, 'unknown', lee)).rejects.toMatchObject({ kind: 'NoAccessError' });
});
