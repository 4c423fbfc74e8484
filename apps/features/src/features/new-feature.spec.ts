import { type CreateFeatureBody, newFeatureMetadata } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aFeature, aStrategy, aUserReference, refusalOf } from '../../test/builders.ts';
import { cloneFeature, createFeature, requireWithinInstanceLimit, requireWithinProjectLimit } from './new-feature.ts';

const now = '2026-11-21T10:00:00.000Z';
const author = aUserReference(7, 'lee');
const created = (body: CreateFeatureBody, naming = {}) => createFeature(body, { project: 'shop', now, author, naming });

describe('a new feature', () => {
  it('has defaults, and is in its initial stage', () => {
    const { feature } = created({ name: 'checkout' });
    expect(feature).toEqual({
      ...newFeatureMetadata,
      name: 'checkout',
      project: 'shop',
      type: 'release',
      description: null,
      stale: false,
      impressionData: false,
      createdAt: now,
      createdBy: author,
      archivedAt: null,
      environments: {},
      tags: [],
      dependencies: [],
      lifecycle: [{ stage: 'initial', enteredStageAt: now }],
      links: [],
      collaborators: [author],
    });
  });

  it('has the properties of the request', () => {
    const body = { type: 'kill-switch', description: 'Stops it', stale: true, impressionData: true } as const;
    expect(created({ name: 'checkout', ...body }).feature).toMatchObject(body);
  });

  it('has no description when it is empty', () => {
    expect(created({ name: 'checkout', description: '' }).feature.description).toBeNull();
  });

  it('has each of its tags once', () => {
    const tag = { type: 'team', value: 'oslo' };
    const { feature, events } = created({ name: 'checkout', tags: [tag, { type: 'area', value: 'pay' }, tag] });
    expect(feature.tags).toEqual([{ type: 'area', value: 'pay' }, tag]);
    expect(events[0]?.tags).toEqual(feature.tags);
  });

  it('emits all of its properties', () => {
    expect(created({ name: 'checkout' }).events).toEqual([
      {
        type: 'feature-created',
        project: 'shop',
        featureName: 'checkout',
        tags: [],
        data: {
          ...newFeatureMetadata,
          name: 'checkout',
          description: null,
          type: 'release',
          project: 'shop',
          stale: false,
          createdAt: now,
          impressionData: false,
          archived: false,
          archivedAt: null,
          lastSeenAt: null,
        },
      },
    ]);
  });

  it('has a name that matches the pattern of its project', () => {
    const naming = { pattern: '[a-z]+\\.[a-z]+', example: 'pay.now', description: 'area.name' };
    expect(() => created({ name: 'pay.later' }, naming)).not.toThrow();
    expect(refusalOf(() => created({ name: 'pay.later2' }, naming))).toMatchObject({
      kind: 'PatternError',
      message: `The feature flag name "pay.later2" does not match the project's naming pattern: "[a-z]+\\.[a-z]+". Here's an example of a name that does match the pattern: "pay.now"." The pattern's description is: "area.name"`,
      details: [{ message: 'The flag name does not match the pattern.' }],
    });
  });
});

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

it('a project has as many active features as its limit, and no more', () => {
  expect(() => requireWithinProjectLimit({ limit: 3, features: 3 })).not.toThrow();
  expect(refusalOf(() => requireWithinProjectLimit({ limit: 3, features: 4 })).kind).toBe('InvalidOperationError');
});

it('all projects have as many active features as the limit of the instance, and no more', () => {
  expect(() => requireWithinInstanceLimit({ limit: 3, features: 3 })).not.toThrow();
  expect(refusalOf(() => requireWithinInstanceLimit({ limit: 3, features: 4 })).kind).toBe('ExceedsLimitError');
});
