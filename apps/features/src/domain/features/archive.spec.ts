import { expect, it } from '@jest/globals';
import { aFeature, aStrategy } from '../../../test/builders.ts';
import { archiveFeatures, deleteFeature, reviveFeature } from './archive.ts';

const now = '2026-02-01T00:00:00.000Z';
const then = '2026-01-15T00:00:00.000Z';
const parent = aFeature({ name: 'parent' });
const child = aFeature({ name: 'child', dependencies: [{ feature: 'parent', enabled: true, variants: [] }] });
const children = new Map([['parent', ['child']]]);
const refused = (features: Parameters<typeof archiveFeatures>[0]) => () => archiveFeatures(features, children, now);

it('a parent is archived only together with its children', () => {
  expect(refused([parent])).toThrow('this feature since other features depend on it.');
  expect(refused([parent, aFeature({ name: 'other' })])).toThrow('those features since other features depend on them.');
  const decisions = archiveFeatures([parent, child], children, now);
  expect(decisions.map(({ feature }) => [feature.archivedAt, feature.dependencies])).toEqual([
    [now, []],
    [now, []],
  ]);
});

it('archiving ignores the children of features that are already archived', () => {
  const old = aFeature({ name: 'parent', archivedAt: then });
  expect(archiveFeatures([old], children, now)).toEqual([{ feature: old, events: [] }]);
});

it('reviving a feature keeps its strategies, turns it off and restarts its lifecycle', () => {
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

it('deleting is refused for features that are not archived', () => {
  expect(deleteFeature(parent).events).toEqual([]);
  expect(deleteFeature(aFeature({ archivedAt: then })).events).toMatchObject([
    { type: 'feature-deleted', preData: { name: 'checkout', archivedAt: then } },
  ]);
});
