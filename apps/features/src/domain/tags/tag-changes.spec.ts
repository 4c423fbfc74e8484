import { describe, expect, it } from '@jest/globals';
import { aFeature } from '../../../test/builders.ts';
import { changeTags } from './tag.ts';

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
