import { describe, expect, it } from 'vitest';
import { aFeature, aStrategy, refusalOf } from '../../test/builders.ts';
import { featureWithoutEnvironments } from '../features/feature.ts';
import { archiveFeature, archiveFeatures, deleteIfArchived, reviveFeature } from './archive.ts';

const now = '2026-02-01T00:00:00.000Z';
const then = '2026-01-15T00:00:00.000Z';
const parent = aFeature({ name: 'parent' });
const child = aFeature({ name: 'child', dependencies: [{ feature: 'parent', enabled: true, variants: [] }] });
const children = new Map([['parent', ['child']]]);
const refused = (features: Parameters<typeof archiveFeatures>[0]) => () => archiveFeatures(features, children, now);

describe('a feature that is archived', () => {
  it('loses its dependencies, and enters its last stage', () => {
    const dependencies = [{ feature: 'parent', enabled: true, variants: [] }];
    const { feature, events } = archiveFeature(aFeature({ dependencies }), [], now);
    expect(feature).toMatchObject({ archivedAt: now, dependencies: [] });
    expect(feature.lifecycle.map(({ stage }) => stage)).toEqual(['initial', 'archived']);
    expect(events.map(({ type }) => type)).toEqual(['feature-dependencies-removed', 'feature-archived']);
    expect(featureWithoutEnvironments(feature)).toMatchObject({ archived: true, archivedAt: now });
  });

  it('emits one event when it has no dependencies', () => {
    const { events } = archiveFeature(aFeature(), [], now);
    expect(events).toEqual([{ type: 'feature-archived', project: 'shop', featureName: 'checkout', tags: [] }]);
  });

  it('keeps its strategies, its switch and its tags', () => {
    const before = aFeature({ enabled: true, tags: [{ type: 'team', value: 'oslo' }] });
    const { feature } = archiveFeature(before, [], now);
    expect(feature).toMatchObject({ environments: before.environments, tags: before.tags });
  });

  it('stays the same the second time', () => {
    const archived = archiveFeature(aFeature(), [], now).feature;
    expect(archiveFeature(archived, ['child'], '2027-01-01T00:00:00.000Z')).toEqual({
      feature: archived,
      events: [],
    });
  });

  it('must not be the parent of another feature', () => {
    expect(refusalOf(() => archiveFeature(aFeature(), ['child'], now))).toMatchObject({
      kind: 'InvalidOperationError',
      message: 'You can not archive/delete this feature since other features depend on it.',
    });
  });
});

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

it('only archived features are deleted, with an event that has their last metadata', () => {
  const old = aFeature({ name: 'old', archivedAt: then });
  const { features, events } = deleteIfArchived([aFeature(), old]);
  expect(features).toEqual([old]);
  expect(events).toMatchObject([{ type: 'feature-deleted', featureName: 'old', preData: { name: 'old' } }]);
});

const archivedAt = '2026-01-15T00:00:00.000Z';

it('a revived feature has its strategies, is off everywhere and starts its lifecycle again', () => {
  const strategies = [aStrategy()];
  const archived = aFeature({ archivedAt, enabled: true, strategies });
  const { feature, events } = reviveFeature(
    { ...archived, lifecycle: [{ stage: 'archived', enteredStageAt: archivedAt }] },
    now,
  );
  expect(feature).toMatchObject({
    archivedAt: null,
    environments: { development: { enabled: false, strategies } },
    lifecycle: [{ stage: 'initial', enteredStageAt: now }],
  });
  expect(events).toMatchObject([{ type: 'feature-revived' }]);
});

it('reviving an active feature changes nothing', () => {
  const active = aFeature();
  expect(reviveFeature(active, now)).toEqual({ feature: active, events: [] });
});
