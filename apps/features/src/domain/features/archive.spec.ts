import { expect, it } from '@jest/globals';
import { aFeature, aStrategy } from '../../../test/builders.ts';
import { archiveFeatures, deleteFeature, reviveFeature } from './archive.ts';

const now = '2026-02-01T00:00:00.000Z';
const then = '2026-01-15T00:00:00.000Z';
const parent = aFeature({ name: 'parent' });
const child = aFeature({ name: 'child', dependencies: [{ feature: 'parent', enabled: true, variants: [] }] });
const children = new Map([['parent', ['child']]]);
const refused = (features: Parameters<typeof archiveFeatures>[0]) => () => archiveFeatures(features, children, now);

it('archives a parent with its children only', () => {
  expect(refused([parent])).toThrow('this feature since other features depend on it.');
  expect(refused([parent, aFeature({ name: 'other' })])).toThrow('those features since other features depend on them.');
  const decisions = archiveFeatures([parent, child], children, now);
  expect(decisions.map(({ feature }) => [feature.archivedAt, feature.dependencies])).toEqual([
    [now, []],
    [now, []],
  ]);
});

it('does not ask for the children of what is archived already', () => {
  const old = aFeature({ name: 'parent', archivedAt: then });
  expect(archiveFeatures([old], children, now)).toEqual([{ feature: old, events: [] }]);
});

it('revives a feature with its strategies, off, and as if its life began', () => {
  const strategies = [aStrategy()];
  const archived = aFeature({ archivedAt: then, enabled: true, strategies });
  const { feature, events } = reviveFeature(
    { ...archived, lifecycle: [{ stage: 'archived', enteredStageAt: then }] },
    now,
  );
  expect(feature).toMatchObject({
    archivedAt: null,
    environments: { development: { enabled: false, strategies } },
    lifecycle: [{ stage: 'initial', enteredStageAt: now }],
  });
  expect(events).toMatchObject([{ type: 'feature-revived' }]);
  expect(reviveFeature(parent, now)).toEqual({ feature: parent, events: [] });
});

it('deletes nothing that is not archived', () => {
  expect(deleteFeature(parent).events).toEqual([]);
  expect(deleteFeature(aFeature({ archivedAt: then })).events).toMatchObject([
    { type: 'feature-deleted', preData: { name: 'checkout', archivedAt: then } },
  ]);
});
