import { describe, expect, it } from 'vitest';
import { aFeature, refusalOf } from '../../test/builders.ts';
import {
  addTag,
  changeTags,
  featuresToTag,
  newTag,
  newTagType,
  removeTag,
  removeTags,
  tagTypeView,
  updateTagType,
} from './tag.ts';

it('a new tag has a value of at least two characters, not counting blanks around it', () => {
  expect(newTag({ type: 'team', value: ' oslo ' })).toEqual({ type: 'team', value: 'oslo' });
  expect(refusalOf(() => newTag({ type: 'team', value: ' o ' })).message).toContain('`/body/value`');
});

const { type: team, events: created } = newTagType({ name: 'team', description: 'who owns it' });

it('a tag type has a name of at most 50 characters that needs no escape in a URL', () => {
  expect(team).toEqual({ name: 'team', description: 'who owns it', icon: null, color: null });
  expect(created).toEqual([{ type: 'tag-type-created', data: team }]);
  expect(refusalOf(() => newTagType({ name: 'a b' })).message).toContain('`/body/name`');
  expect(refusalOf(() => newTagType({ name: 'a'.repeat(51) })).message).toContain('`/body/name`');
});

it('a new tag type is shown with the properties of the request', () => {
  expect(tagTypeView(team)).toEqual({ name: 'team', description: 'who owns it' });
});

it('an update of a tag type keeps omitted properties', () => {
  const after = { ...team, icon: 'T' };
  expect(updateTagType(team, { icon: 'T' })).toEqual({
    type: after,
    events: [{ type: 'tag-type-updated', data: after, preData: team }],
  });
  expect(updateTagType(team, { description: 'who owns it' })).toEqual({ type: team, events: [] });
});

describe('tags of a feature', () => {
  const area = { type: 'area', value: 'pay' };
  const team = { type: 'team', value: 'oslo' };

  describe('a tag of a feature', () => {
    it('that is added emits all tags afterwards', () => {
      const { feature, events } = addTag(aFeature({ tags: [team] }), area);
      expect(feature.tags).toEqual([area, team]);
      expect(events).toEqual([
        { type: 'feature-tagged', project: 'shop', featureName: 'checkout', data: area, tags: [area, team] },
      ]);
    });

    it('that already exists emits nothing', () => {
      const feature = aFeature({ tags: [team] });
      expect(addTag(feature, { ...team })).toEqual({ feature, events: [] });
    });

    it('is another one with other letters, blanks or another type', () => {
      const feature = aFeature({ tags: [team] });
      for (const tag of [
        { ...team, value: 'Oslo' },
        { ...team, value: ' oslo' },
        { ...team, type: 'TEAM' },
      ]) {
        expect(addTag(feature, tag).feature.tags).toHaveLength(2);
        expect(removeTag(feature, tag)).toEqual({ feature, events: [] });
      }
    });

    it('that is removed emits all tags before', () => {
      const { feature, events } = removeTag(aFeature({ tags: [area, team] }), area);
      expect(feature.tags).toEqual([team]);
      expect(events).toEqual([
        { type: 'feature-untagged', project: 'shop', featureName: 'checkout', preData: area, tags: [area, team] },
      ]);
    });

    it('can be put on a feature in the archive', () => {
      expect(addTag(aFeature({ archivedAt: '2026-02-01T00:00:00.000Z' }), team).events).toHaveLength(1);
    });
  });

  it('all tags of a type, or one of them, are removed from a feature', () => {
    const feature = aFeature({ tags: [area, team, { type: 'team', value: 'bergen' }] });
    expect(removeTags(feature, 'team').feature.tags).toEqual([area]);
    expect(removeTags(feature, 'team', 'bergen').feature.tags).toEqual([area, team]);
  });
});

const red = { type: 'simple', value: 'red' };
const blue = { type: 'simple', value: 'blue' };

describe('changeTags', () => {
  it('adds and removes tags, with an event for each change', () => {
    const { feature, events } = changeTags(aFeature({ tags: [red] }), { addedTags: [blue, red], removedTags: [red] });
    expect(feature.tags).toEqual([blue]);
    expect(events).toMatchObject([
      { type: 'feature-tagged', data: blue },
      { type: 'feature-untagged', preData: red },
    ]);
  });

  it('neither adds nor emits a tag that is also removed', () => {
    const feature = aFeature();
    expect(changeTags(feature, { addedTags: [red], removedTags: [red, blue] })).toEqual({ feature, events: [] });
  });
});

describe('a change of the tags of several features', () => {
  const [checkout, cart] = [aFeature(), aFeature({ name: 'cart' })];
  const requested = ['cart', 'checkout', 'cart'];

  it('is made once to a feature that the request repeats', () => {
    expect(featuresToTag(requested, [checkout, cart], 'shop')).toEqual([cart, checkout]);
  });

  it('is refused for a feature that does not exist', () => {
    expect(refusalOf(() => featuresToTag(requested, [cart], 'shop'))).toMatchObject({
      kind: 'NotFoundError',
      message: 'Could not find feature with name checkout',
    });
  });

  it('is refused for a feature of another project, and says where the request names it', () => {
    const foreign = { ...checkout, project: 'garage' };
    const [detail] = refusalOf(() => featuresToTag(requested, [foreign, cart], 'shop')).details;
    expect(detail).toEqual({
      message: 'Tried to change tags of feature not belonging to project: see the `/body/features/1` property.',
      path: '/body/features/1',
    });
  });
});
