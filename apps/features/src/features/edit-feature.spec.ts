import { featureFieldNames, type JsonPatch, newFeatureMetadata } from '@bunting/contracts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { aFeature, aStrategy, someProjectContext, refusalOf } from '../../test/builders.ts';
import {
  featuresAddedByMove,
  markStale,
  type MoveContext,
  moveFeature,
  patchFeature,
  setLifetime,
  updateFeature,
} from './edit-feature.ts';
import type { Feature } from './feature.ts';

const feature = aFeature({ description: 'Pays', strategies: [aStrategy()], tags: [{ type: 'simple', value: 'a' }] });
const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type);

/** What of a feature no patch and no update may touch. */
const identityOf = (of: Feature) =>
  Object.fromEntries(Object.entries(of).filter(([key]) => !(featureFieldNames as readonly string[]).includes(key)));

const member = fc.constantFrom(
  'name',
  'project',
  'createdAt',
  'archived',
  'archivedAt',
  'lastSeenAt',
  ...featureFieldNames,
  'tags',
  'environments',
  'bogus',
);
const value = fc.oneof(fc.string(), fc.boolean(), fc.integer(), fc.constant(null), fc.constant('experiment'));
const step = fc.record({
  op: fc.constantFrom('add', 'replace', 'remove'),
  path: member.map((name) => `/${name}`),
  value,
});

it('a patch of a feature changes its metadata only', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 5 }), (patch) => {
      let after: Feature;
      try {
        after = patchFeature(feature, patch as JsonPatch).feature;
      } catch (error) {
        expect(error).toMatchObject({ kind: 'ValidationError' });
        return;
      }
      expect(identityOf(after)).toEqual(identityOf(feature));
      expect([typeof after.type, typeof after.stale, typeof after.impressionData]).toEqual([
        'string',
        'boolean',
        'boolean',
      ]);
    }),
  );
});

it('an empty description becomes null', () => {
  expect(patchFeature(feature, [{ op: 'remove', path: '/description' }]).feature.description).toBeNull();
  expect(updateFeature(feature, { description: '' }).feature.description).toBeNull();
  expect(updateFeature(feature, {}).feature.description).toBe('Pays');
});

it('a patch that removes a property of a feature returns it to its value in a new feature', () => {
  const before = aFeature({ description: 'Pays', type: 'experiment', stale: true, impressionData: true });
  const removed: JsonPatch = featureFieldNames.map((name) => ({ op: 'remove', path: `/${name}` }));
  const { feature: after, events } = patchFeature(before, removed);
  expect(after).toEqual({ ...before, ...newFeatureMetadata });
  expect(typesOf(events)).toEqual(['feature-metadata-updated', 'feature-stale-off']);
});

it('a change of the stale mark emits an event of its own', () => {
  const patch: JsonPatch = [{ op: 'replace', path: '/stale', value: true }];
  expect(typesOf(patchFeature(feature, patch).events)).toEqual(['feature-metadata-updated', 'feature-stale-on']);
  expect(typesOf(updateFeature(feature, { stale: true }).events)).toEqual(['feature-metadata-updated']);
  expect(typesOf(markStale(feature, true).events)).toEqual(['feature-stale-on']);
  expect(markStale(feature, false)).toEqual({ feature, events: [] });
});

const here = someProjectContext({
  segments: new Map([
    [1, { id: 1, name: 'everywhere', project: null }],
    [2, { id: 2, name: 'customers', project: 'shop' }],
  ]),
});
const move: MoveContext = { to: 'garage', source: here, target: someProjectContext(), children: [] };
const using = (...segments: number[]) => aFeature({ strategies: [aStrategy({ segments })] });

it('a feature moves with its strategies and global segments', () => {
  const feature = using(1);
  expect(moveFeature(feature, move)).toMatchObject({
    feature: { ...feature, project: 'garage' },
    events: [{ type: 'feature-project-change', project: 'garage' }],
  });
});

it('a feature moves without settings in an environment that its project has lost', () => {
  const settings = { enabled: false, strategies: [], variants: [] };
  const lost = aFeature({ environments: { production: settings, lost: settings } });
  expect(moveFeature(lost, move).feature.environments).toEqual({ production: settings });
});

it('a feature with a segment of its project cannot move', () => {
  expect(refusalOf(() => moveFeature(using(1, 2), move)).kind).toBe('IncompatibleProjectError');
});

it('a feature cannot move to a project with other environments', () => {
  const [development, production] = here.environments;
  for (const environments of [[development], [development, { ...production, name: 'staging' }], []]) {
    const target = { ...here, environments: environments as typeof here.environments };
    expect(refusalOf(() => moveFeature(aFeature(), { ...move, target })).kind).toBe('IncompatibleProjectError');
  }
});

it('a feature with children cannot move', () => {
  expect(refusalOf(() => moveFeature(aFeature(), { ...move, children: ['child'] })).kind).toBe('ForbiddenError');
});

it('a move to the same project changes nothing', () => {
  const feature = aFeature();
  expect(moveFeature(feature, { ...move, to: 'shop' })).toEqual({ feature, events: [] });
});

it('a move counts towards the limit of the target, unless the feature is archived or stays in its project', () => {
  const [active, archived] = [aFeature(), aFeature({ archivedAt: '2026-01-02T00:00:00.000Z' })];
  const added = [active, archived].map((feature) =>
    ['garage', 'shop'].map((project) => featuresAddedByMove(feature, { ...feature, project })),
  );
  expect(added).toEqual([
    [1, 0],
    [0, 0],
  ]);
});

const release = { id: 'release', name: 'Release', description: 'gates a release', lifetimeDays: 40 };

it('a type of features gets another lifetime with an event', () => {
  const type = { ...release, lifetimeDays: 7 };
  const events = [{ type: 'feature-type-updated', data: type, preData: release }];
  expect(setLifetime(release, 7)).toEqual({ type, events });
  expect(setLifetime(release, 40)).toEqual({ type: release, events: [] });
});

it('a lifetime of zero days means that features of the type do not become stale', () => {
  expect(setLifetime(release, 0).type.lifetimeDays).toBeNull();
  expect(setLifetime({ ...release, lifetimeDays: null }, 0).events).toEqual([]);
});
