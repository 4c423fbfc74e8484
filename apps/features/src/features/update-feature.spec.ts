import { expect, it } from 'vitest';
import type { JsonPatch } from '@bunting/contracts';
import fc from 'fast-check';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { type Feature, metadataNames } from './feature.ts';
import { markStale, patchFeature, updateFeature } from './edit-feature.ts';

const feature = aFeature({ description: 'Pays', strategies: [aStrategy()], tags: [{ type: 'simple', value: 'a' }] });
const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type);

/** What of a feature no patch and no update may touch. */
const identityOf = (of: Feature) =>
  Object.fromEntries(Object.entries(of).filter(([key]) => !(metadataNames as readonly string[]).includes(key)));

const member = fc.constantFrom(
  'name',
  'project',
  'createdAt',
  'archived',
  'archivedAt',
  'lastSeenAt',
  ...metadataNames,
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
  const removed: JsonPatch = metadataNames.map((name) => ({ op: 'remove', path: `/${name}` }));
  const { feature: after, events } = patchFeature(before, removed);
  expect(after).toEqual({ ...before, description: null, type: 'release', stale: false, impressionData: false });
  expect(typesOf(events)).toEqual(['feature-metadata-updated', 'feature-stale-off']);
});

it('a change of the stale mark emits an event of its own', () => {
  const patch: JsonPatch = [{ op: 'replace', path: '/stale', value: true }];
  expect(typesOf(patchFeature(feature, patch).events)).toEqual(['feature-metadata-updated', 'feature-stale-on']);
  expect(typesOf(updateFeature(feature, { stale: true }).events)).toEqual(['feature-metadata-updated']);
  expect(typesOf(markStale(feature, true).events)).toEqual(['feature-stale-on']);
  expect(markStale(feature, false)).toEqual({ feature, events: [] });
});
