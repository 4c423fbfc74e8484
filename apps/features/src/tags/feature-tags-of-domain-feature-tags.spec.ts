import { describe, expect, it } from 'vitest';
import { aFeature } from '../../test/builders.ts';
import { addTag, removeTag, removeTags } from './tag.ts';

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
