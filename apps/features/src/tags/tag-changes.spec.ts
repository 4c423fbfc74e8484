import { describe, expect, it } from 'vitest';
import { aFeature } from '../../test/builders.ts';
import { refusalOf } from '../../test/refusal-of.ts';
import { changeTags, featuresToTag } from './tag.ts';

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
