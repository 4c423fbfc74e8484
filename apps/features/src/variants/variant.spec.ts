import type { FeatureVariant, StrategyVariant } from '@bunting/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aFeature, someProjectContext, refusalOf } from '../../test/builders.ts';
import { inEnvironment } from '../features/feature.ts';
import {
  normalizeFeatureVariants,
  normalizeStrategyVariants,
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

const variable = (name: string, rest: Partial<StrategyVariant> = {}): StrategyVariant => ({
  name,
  weight: 0,
  weightType: 'variable',
  stickiness: 'default',
  ...rest,
});
const fixed = (name: string, weight: number): StrategyVariant => variable(name, { weight, weightType: 'fix' });
const distributed = (...variants: StrategyVariant[]) => normalizeStrategyVariants(variants, '/variants');
const weights = (variants: readonly FeatureVariant[]) =>
  Object.fromEntries(variants.map(({ name, weight }) => [name, weight]));
describe('the weights of variants', () => {
  it('are distributed in the order of the request, and returned by name', () => {
    const variants = distributed(variable('b'), variable('a'), variable('c'));
    expect(variants.map(({ name, weight }) => [name, weight])).toEqual([
      ['a', 333],
      ['b', 334],
      ['c', 333],
    ]);
  });

  it('are the remainder of the fixed weights', () => {
    expect(weights(distributed(variable('z'), fixed('f', 333), variable('y'), variable('x')))).toEqual({
      f: 333,
      z: 223,
      y: 222,
      x: 222,
    });
  });

  it('may be fixed for all variants', () => {
    expect(weights(distributed(fixed('a', 600), fixed('b', 400), variable('c'), variable('d')))).toEqual({
      a: 600,
      b: 400,
      c: 0,
      d: 0,
    });
  });

  it('that are sent for variable ones are ignored', () => {
    expect(weights(distributed(variable('a', { weight: 900 }), variable('b', { weight: 900 })))).toEqual({
      a: 500,
      b: 500,
    });
  });

  it('that are divided already stay, as those of a proposed change do when it is applied', () => {
    const proposed = distributed(variable('c'), variable('b'), variable('a'));
    expect(weights(proposed)).toEqual({ a: 333, b: 333, c: 334 });
    expect(distributed(...proposed)).toEqual(proposed);
  });

  it('sum to 1000 with fixed weights unchanged for any list', () => {
    const kinds = fc.array(fc.record({ fix: fc.boolean(), weight: fc.integer({ min: 0, max: 60 }) }), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(kinds, (drawn) => {
        const sent = [
          variable('last', { weight: 1000 }),
          ...drawn.map(({ fix, weight }, nth) => (fix ? fixed(`v${nth}`, weight) : variable(`v${nth}`, { weight }))),
        ];
        fc.pre(sent.reduce((sum, { weight, weightType }) => (weightType === 'fix' ? sum + weight : sum), 0) <= 1000);
        const stored = distributed(...sent);
        expect(stored.reduce((sum, { weight }) => sum + weight, 0)).toBe(1000);
        const by = weights(stored);
        for (const { name, weight, weightType } of sent) {
          if (weightType === 'fix') expect(by[name]).toBe(weight);
          else expect(by[name]).toBeGreaterThanOrEqual(0);
        }
        const shares = sent.filter(({ weightType }) => weightType === 'variable').map(({ name }) => by[name] as number);
        expect(shares).toEqual(shares.toSorted((one, other) => other - one));
        expect((shares[0] as number) - (shares.at(-1) as number)).toBeLessThanOrEqual(1);
        expect(distributed(...stored)).toEqual(stored);
      }),
    );
  });
});

describe('variants', () => {
  it('may be empty', () => {
    expect(distributed()).toEqual([]);
  });

  it.each<[string, StrategyVariant[], string, string]>([
    ['only fixed ones', [fixed('a', 1000)], '/variants', 'There must be at least one "variable" variant'],
    [
      'too much that is fixed',
      [fixed('a', 600), fixed('b', 600), variable('c')],
      '/variants',
      'The traffic distribution total must equal 100%',
    ],
    ['a name twice', [variable('a'), variable('b'), variable('a')], '/variants/2/name', 'contains a duplicate value'],
    ['a name with a blank', [variable('b b')], '/variants/0/name', 'must be URL friendly. You provided "b b".'],
    ['an empty name', [variable('a'), variable('')], '/variants/1/name', 'not allowed to be empty'],
    ['a name that is too long', [variable('x'.repeat(101))], '/variants/0/name', 'at most 100 characters'],
    [
      'json that is none',
      [variable('a', { payload: { type: 'json', value: '{' } })],
      '/variants/0/payload/value',
      'be a valid json string when \'type\' is json. You provided "{".',
    ],
    [
      'empty json',
      [variable('a', { payload: { type: 'json', value: '' } })],
      '/variants/0/payload/value',
      'valid json',
    ],
    ['no stickiness', [variable('a', { stickiness: '' })], '/variants/0/stickiness', 'not allowed to be empty'],
  ])('are refused with %s', (_, variants, path, message) => {
    const refusal = refusalOf(() => distributed(...variants));
    expect(refusal.details[0]?.path).toBe(path);
    expect(refusal.message).toContain(message);
    expect(refusal.message).toContain(`\`${path}\``);
  });

  it.each(['json', 'csv', 'string', 'number'] as const)('keep a payload of type %s unchanged', (type) => {
    const payload = { type, value: type === 'json' ? '{"a":[1]}' : 'not, checked {' };
    expect(distributed(variable('a', { payload }))[0]?.payload).toEqual(payload);
  });

  it('of a feature have defaults, and keep overrides', () => {
    const overrides = [{ contextName: 'userId', values: ['1'] }];
    expect(
      normalizeFeatureVariants(
        [
          { name: 'a', weight: 7, overrides },
          { name: 'b', weight: 0.5 },
        ],
        '/v',
      ),
    ).toEqual([
      { name: 'a', weight: 500, weightType: 'variable', stickiness: 'default', overrides },
      { name: 'b', weight: 500, weightType: 'variable', stickiness: 'default' },
    ]);
  });

  it('of a feature have fixed weights in whole thousandths', () => {
    const variants: FeatureVariant[] = [
      { name: 'a', weight: 333.5, weightType: 'fix' },
      { name: 'b', weight: 0 },
    ];
    expect(refusalOf(() => normalizeFeatureVariants(variants, '/v')).details[0]?.path).toBe('/v/0/weight');
  });
});
