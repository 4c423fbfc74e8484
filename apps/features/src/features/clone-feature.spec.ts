import { expect, it } from 'vitest';
import { aFeature, aUserReference, aStrategy } from '../../test/builders.ts';
import { cloneFeature } from './new-feature.ts';

const origin = { project: 'shop', now: '2026-02-01T00:00:00.000Z', author: aUserReference(3, 'kim') };
const variants = [{ name: 'a', weight: 1000, weightType: 'variable', stickiness: 'default' } as const];
const source = aFeature({
  stale: true,
  environments: {
    development: { enabled: true, strategies: [aStrategy({ id: 'a', sortOrder: 4, segments: [7] })], variants },
    production: { enabled: true, strategies: [aStrategy({ id: 'b', parameters: { groupId: 'us' } })], variants: [] },
  },
});

const ids = () => {
  let nth = 0;
  return () => `new-${(nth += 1)}`;
};

it('a clone has the strategies and variants with new ids, is off, and was created by the caller', () => {
  const { feature, events } = cloneFeature(source, { name: 'copy' }, origin, ids());
  expect(feature).toMatchObject({
    name: 'copy',
    stale: true,
    createdAt: origin.now,
    createdBy: origin.author,
    archivedAt: null,
    tags: [],
    environments: {
      development: { enabled: false, strategies: [{ id: 'new-1', sortOrder: 4, segments: [7] }], variants },
      production: { enabled: false, strategies: [{ id: 'new-2', parameters: { groupId: 'copy' } }] },
    },
  });
  expect(events.map(({ type, environment }) => [type, environment])).toEqual([
    ['feature-created', undefined],
    ['feature-strategy-add', 'development'],
    ['feature-strategy-add', 'production'],
  ]);
});

it('a clone does not change its source', () => {
  const before = structuredClone(source);
  cloneFeature(source, { name: 'copy' }, origin, ids());
  expect(source).toEqual(before);
});
