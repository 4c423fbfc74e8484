import { describe, expect, it } from 'vitest';
import type { FeatureVariant } from '@bunting/contracts';
import fc from 'fast-check';
import { aFeature, someProjectContext } from '../../test/builders.ts';
import { refusalOf } from '../../test/refusal-of.ts';
import { inEnvironment } from '../features/feature.ts';
import {
  patchEnvironmentVariants,
  patchVariants,
  replaceVariants,
  setEnvironmentVariants,
  setVariants,
  setVariantsOfEnvironments,
  variantsOfFirstEnvironment,
} from './variant.ts';

const around = someProjectContext();
const variant = (name: string): FeatureVariant => ({ name, weight: 0, weightType: 'variable', stickiness: 'default' });
const only = [{ ...variant('a'), weight: 1000 }];
const feature = aFeature({ environments: { production: { enabled: true, strategies: [], variants: only } } });

it('the variants of a feature are those of the first environment with any', () => {
  expect(variantsOfFirstEnvironment(feature, around)).toBe(only);
  expect(variantsOfFirstEnvironment(aFeature(), around)).toEqual([]);
});

it('the weights of variants sum to 1000 in every environment', () => {
  const some = fc.uniqueArray(fc.stringMatching(/^[a-z0-9]{1,8}$/), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(some, (names) => {
      const { feature: after } = setVariants(feature, names.map(variant), around);
      for (const { variants } of Object.values(after.environments)) {
        expect(variants.map(({ name }) => name).sort()).toEqual([...names].sort());
        expect(variants.reduce((sum, { weight }) => sum + weight, 0)).toBe(1000);
      }
    }),
  );
});

it('variants of one environment need a feature with variants, and those of a batch do not', () => {
  const { feature: after } = setEnvironmentVariants(feature, 'development', [variant('b')], around);
  expect(after.environments['development']?.variants).toMatchObject([{ name: 'b', weight: 1000 }]);
  expect(refusalOf(() => setEnvironmentVariants(aFeature(), 'development', [], around)).kind).toBe(
    'InvalidOperationError',
  );
  expect(setVariantsOfEnvironments(aFeature(), ['development'], only, around).events).toHaveLength(1);
  expect(refusalOf(() => setVariantsOfEnvironments(feature, ['moon'], only, around)).kind).toBe('NotFoundError');
});

it('a patch of all environments applies to all of them or none', () => {
  const add = [{ op: 'add', path: '/0', value: variant('z') } as const];
  const { feature: after, events } = patchVariants(feature, add, around);
  expect(events.map(({ environment }) => environment)).toEqual(['development', 'production']);
  expect(after.environments['production']?.variants.map(({ name, weight }) => [name, weight])).toEqual([
    ['a', 500],
    ['z', 500],
  ]);
  const replace = [{ op: 'replace', path: '/0/name', value: 'b' } as const];
  expect(refusalOf(() => patchVariants(feature, replace, around)).kind).toBe('ValidationError');
  expect(patchEnvironmentVariants(feature, 'production', replace, around).events).toHaveLength(1);
});

it('a patch outside of the list is refused with its path', () => {
  for (const path of ['', '/0/name/x', '/9', 'name', '/-/weight']) {
    const patch = [{ op: 'replace', path, value: { not: 'a list' } } as const];
    const refusal = refusalOf(() => patchEnvironmentVariants(feature, 'production', patch, around));
    expect(refusal).toMatchObject({ kind: 'ValidationError', message: expect.stringContaining('/variants') });
  }
});

describe('the variants of a feature in an environment', () => {
  const variants = [
    { name: 'b', weight: 0 },
    { name: 'a', weight: 0 },
  ];

  it('are replaced as a whole, and emitted before and after', () => {
    const first = replaceVariants(aFeature(), 'development', variants, { path: '/body' });
    const stored = ['a', 'b'].map((name) => ({ name, weight: 500, weightType: 'variable', stickiness: 'default' }));
    expect(inEnvironment(first.feature, 'development').variants).toEqual(stored);
    const { feature, events } = replaceVariants(first.feature, 'development', [], { path: '/body' });
    expect(inEnvironment(feature, 'development').variants).toEqual([]);
    expect(events).toMatchObject([
      {
        type: 'feature-environment-variants-updated',
        environment: 'development',
        preData: { variants: stored },
        data: { variants: [] },
      },
    ]);
  });

  it('that are unchanged emit nothing', () => {
    const { feature } = replaceVariants(aFeature(), 'development', variants, { path: '/body' });
    expect(replaceVariants(feature, 'development', variants.toReversed(), { path: '/body' })).toEqual({
      feature,
      events: [],
    });
  });
});
