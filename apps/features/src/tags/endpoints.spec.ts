import {
  AddFeatureTag,
  CreateTag,
  CreateTagType,
  DeleteTag,
  DeleteTagType,
  GetTag,
  GetTagType,
  ListFeatureTags,
  ListTags,
  ListTagsOfType,
  ListTagTypes,
  RemoveFeatureTag,
  type Tag,
  TagFeatures,
  UpdateFeatureTags,
  UpdateTagType,
  ValidateTagType,
} from '@bunting/contracts';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aFeature } from '../../test/builders.ts';
import { callerWith, lee, mia, useFeatures } from '../../test/started-features.ts';

describe('tag catalogue', () => {
  const features = useFeatures();
  beforeEach(async () => {
    await features.database.transaction(({ query }) => query('truncate feature, tag cascade'));
    await features.create('checkout');
    await features.create('basket');
    await features.clearOutbox();
  });

  const red: Tag = { type: 'simple', value: 'red' };
  const blue: Tag = { type: 'simple', value: 'blue' };
  const tagsOf = async (featureName: string) =>
    (await features.call(ListFeatureTags, { params: { featureName } })).tags;
  const emitted = async () =>
    (await features.emittedEvents()).map(({ type, featureName, data, preData }) => ({
      type,
      featureName,
      data,
      preData,
    }));
  const update = (addedTags: Tag[], removedTags: Tag[] = []) =>
    features.call(UpdateFeatureTags, { params: { featureName: 'checkout' }, body: { addedTags, removedTags } });
  const inBulk = (names: string[], addedTags: Tag[], projectId = 'default') =>
    features.call(TagFeatures, {
      params: { projectId },
      body: { features: names, tags: { addedTags, removedTags: [blue] } },
    });

  it('updates the tags of a feature, with one event for each change', async () => {
    expect(await update([red, blue])).toEqual({ version: 1, tags: [blue, red] });
    await features.clearOutbox();
    expect(await update([red], [blue])).toEqual({ version: 1, tags: [red] });
    await update([red], [blue]);
    expect(await emitted()).toEqual([{ type: 'feature-untagged', featureName: 'checkout', data: null, preData: blue }]);
    await expect(update([red, { type: 'colour', value: 'red' }])).rejects.toMatchObject({
      kind: 'ValidationError',
      message: /'colour'.*`\/body\/addedTags\/1\/type`/,
    });
  });

  it('lists a sorted page of tags', async () => {
    const tag = (nth: number): Tag => ({ type: 'simple', value: `t${nth}` });
    await update([tag(1), tag(2), tag(3)]);
    const page = async (query: object) => (await features.call(ListTags, { query })).tags;
    expect(await page({ limit: 2 })).toEqual([tag(1), tag(2)]);
    expect(await page({ limit: 2, offset: 2 })).toEqual([tag(3)]);
    expect(await page({})).toEqual([tag(1), tag(2), tag(3)]);
    const ofType = await features.call(ListTagsOfType, { params: { type: 'simple' }, query: { offset: 1, limit: 1 } });
    expect(ofType.tags).toEqual([tag(2)]);
  });

  it('tags all features of a bulk request or none', async () => {
    await inBulk(['checkout', 'basket', 'checkout'], [red]);
    expect([await tagsOf('checkout'), await tagsOf('basket')]).toEqual([[red], [red]]);
    expect((await emitted()).map(({ type, featureName }) => [type, featureName])).toEqual([
      ['tag-created', null],
      ['feature-tagged', 'checkout'],
      ['feature-tagged', 'basket'],
    ]);
    const green = { type: 'simple', value: 'green' };
    await expect(inBulk(['checkout', 'unknown'], [green])).rejects.toMatchObject({ kind: 'NotFoundError' });
    await expect(inBulk(['checkout'], [green], 'shop')).rejects.toMatchObject({
      kind: 'ValidationError',
      message: /`\/body\/features\/0`/,
    });
    expect(await tagsOf('checkout')).toEqual([red]);
  });

  it('stores a catalogue of tags, and removes a deleted tag from all features', async () => {
    const create = (body: Tag) => features.call(CreateTag, { body }, lee);
    expect(await create({ type: 'simple', value: '  red ' })).toEqual({ version: 1, tag: red });
    await expect(create(red)).rejects.toMatchObject({ kind: 'NameExistsError' });
    await expect(create({ type: 'colour', value: 'red' })).rejects.toMatchObject({ message: /`\/body\/type`/ });
    await expect(create({ type: 'simple', value: ' r ' })).rejects.toMatchObject({ message: /`\/body\/value`/ });
    await update([red, blue]);
    expect(await features.call(ListTags, {})).toEqual({ version: 1, tags: [blue, red] });
    expect(await features.call(ListTagsOfType, { params: { type: 'colour' } })).toEqual({ version: 1, tags: [] });
    expect(await features.call(GetTag, { params: red })).toEqual({ version: 1, tag: red });

    await features.clearOutbox();
    await features.call(DeleteTag, { params: red });
    expect(await emitted()).toEqual([
      { type: 'feature-untagged', featureName: 'checkout', data: null, preData: red },
      { type: 'tag-deleted', featureName: null, data: red, preData: null },
    ]);
    await expect(features.call(DeleteTag, { params: red })).rejects.toMatchObject({ kind: 'NotFoundError' });
    await expect(features.call(GetTag, { params: red })).rejects.toMatchObject({ kind: 'NotFoundError' });
    const inProject = callerWith({ permission: 'UPDATE_FEATURE', project: 'default' });
    await expect(features.call(DeleteTag, { params: blue }, inProject)).rejects.toMatchObject({
      kind: 'NoAccessError',
    });
  });

  it('stores tag types, and removes the tags of a deleted one', async () => {
    const team = { name: 'team', description: 'who looks after it', icon: null, color: null };
    const body = { name: 'team', description: 'who looks after it' };
    expect(await features.call(ValidateTagType, { body })).toEqual({ valid: true, tagType: body });
    expect(await features.call(CreateTagType, { body })).toEqual(body);
    for (const operation of [CreateTagType, ValidateTagType]) {
      await expect(features.call(operation, { body })).rejects.toMatchObject({ kind: 'NameExistsError' });
      await expect(features.call(operation, { body: { name: 'a b' } })).rejects.toMatchObject({
        message: /\/body\/name/,
      });
    }
    const params = { name: 'team' };
    for (let nth = 0; nth < 2; nth++) await features.call(UpdateTagType, { params, body: { icon: 'T' } });
    const after = { ...team, icon: 'T' };
    const { color: _, ...shown } = after;
    expect(await features.call(GetTagType, { params })).toEqual({ version: 1, tagType: shown });
    expect((await features.call(ListTagTypes, {})).tagTypes).toEqual([
      expect.objectContaining({ name: 'simple' }),
      shown,
    ]);

    const payments = { type: 'team', value: 'payments' };
    await inBulk(['checkout', 'basket'], [payments]);
    await features.call(DeleteTagType, { params });
    expect(await tagsOf('basket')).toEqual([]);
    expect((await features.call(ListTags, {})).tags).toEqual([]);
    expect((await emitted()).filter(({ type }) => type.startsWith('tag-type') || type === 'feature-untagged')).toEqual([
      { type: 'tag-type-created', featureName: null, data: team, preData: null },
      { type: 'tag-type-updated', featureName: null, data: after, preData: team },
      { type: 'feature-untagged', featureName: 'basket', data: null, preData: payments },
      { type: 'feature-untagged', featureName: 'checkout', data: null, preData: payments },
      { type: 'tag-type-deleted', featureName: null, data: null, preData: after },
    ]);
    for (const unknown of [UpdateTagType, DeleteTagType, GetTagType]) {
      await expect(features.call(unknown, { params, body: {} } as never)).rejects.toMatchObject({
        kind: 'NotFoundError',
      });
    }
  });
});

describe('feature tags', () => {
  const features = useFeatures();
  beforeAll(async () => {
    await features.create('checkout');
  });
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
});
