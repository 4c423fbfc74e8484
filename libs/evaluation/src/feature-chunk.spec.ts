import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { EvaluationContext } from './constraint.ts';
import { CompiledFeature, compileEvaluator, createEvaluator, type EvaluableFeature } from './evaluator.ts';
import { compileChunk } from './feature-chunk.ts';

const users = ['ada', 'bob', 'çelik', ''];
const constraint = fc.record({
  contextName: fc.constantFrom('userId', 'country'),
  operator: fc.constantFrom('IN', 'IN', 'IN', 'NOT_IN', 'STR_CONTAINS'),
  values: fc.array(fc.constantFrom(...users, ' ada ', 'no'), { maxLength: 3 }),
  inverted: fc.constantFrom(false, false, true),
});
const strategy = fc.record({
  name: fc.constantFrom('default', 'flexibleRollout', 'flexibleRollout', 'gradualRolloutUserId', 'ourOwn'),
  parameters: fc.record({
    rollout: fc.constantFrom('0', '30', '50.5', '70', '100', 'x', '-3000000000', '3000000000', 'Infinity'),
    percentage: fc.constantFrom('0', '50', '100'),
    stickiness: fc.constantFrom('default', 'default', 'userId', 'random'),
    groupId: fc.string({ maxLength: 9 }),
  }),
  constraints: fc.array(constraint, { maxLength: 2 }),
  variants: fc.constantFrom([], [], [{ name: 'own', weight: 1000 }]),
});
const features = fc.array(
  fc.record({
    enabled: fc.constantFrom(true, true, false),
    strategies: fc.array(strategy, { maxLength: 3 }),
    variants: fc.constantFrom(
      [],
      [],
      [
        { name: 'red', weight: 500 },
        { name: 'blue', weight: 500 },
      ],
    ),
    dependencies: fc.constantFrom([], [], [{ feature: 'f0' }], [{ feature: 'f1', enabled: false }]),
  }),
  { minLength: 1, maxLength: 12 },
);
const fields = fc.record(
  {
    userId: fc.constantFrom(...users),
    sessionId: fc.constantFrom('s1', 'ada'),
    country: fc.constantFrom('no', 'ada'),
    remoteAddress: fc.constant('10.0.0.1'),
  },
  { requiredKeys: [] },
);

it('all features have for every user the results that each has by itself', () => {
  const agree = (generated: typeof features extends fc.Arbitrary<infer It> ? It : never, about: object) => {
    const named: EvaluableFeature[] = generated.map((one, nth) => ({ name: `f${nth}`, ...one }));
    const evaluator = compileEvaluator(named);
    const context = (): EvaluationContext => ({
      fields: new Map<string, string>(Object.entries(about)),
      now: new Date(0),
      random: () => 0.4,
    });
    const active = evaluator.active(context()).map(({ feature, variant }) => [feature.name, variant.name]);
    const each = named.map(({ name }) => ({ name, ...evaluator.evaluate(name, context()) }));
    expect(active).toEqual(each.filter(({ enabled }) => enabled).map(({ name, variant }) => [name, variant.name]));
    const all = evaluator.resolveAll(context());
    expect(all).toEqual(named.map(({ name }) => evaluator.resolve(name, context())));
    expect(all.map(({ enabled, variant }) => ({ enabled, variant }))).toEqual(
      named.map(({ name }) => evaluator.evaluate(name, context())),
    );
  };
  fc.assert(fc.property(features, fields, agree), { numRuns: 1_000 });
});

it('explanations agree with the results of all features', () => {
  const agree = (generated: typeof features extends fc.Arbitrary<infer It> ? It : never, about: object) => {
    const named: EvaluableFeature[] = generated.map((one, nth) => ({ name: `f${nth}`, ...one }));
    const evaluator = compileEvaluator(named);
    const context = { fields: new Map<string, string>(Object.entries(about)), now: new Date(0), random: () => 0.4 };
    for (const { feature, enabled, variant, reason } of evaluator.resolveAll(context)) {
      const explained = evaluator.explain(feature.name, context);
      expect({ enabled, variant }).toEqual({ enabled: explained?.enabled, variant: explained?.variant });
      expect(reason === 'DISABLED').toBe(!feature.enabled);
      if (reason === 'UNKNOWN') expect(explained?.result).toBe('unknown');
    }
  };
  fc.assert(fc.property(features, fields, agree), { numRuns: 300 });
});

it('of many features that are on for listed users, only those are evaluated that list the user', () => {
  const listing = (nth: number): EvaluableFeature => ({
    name: `flag-${nth}`,
    enabled: true,
    strategies: [
      {
        name: 'flexibleRollout',
        parameters: { rollout: '100', stickiness: 'default', groupId: 'g' },
        constraints: [{ contextName: 'userId', operator: 'IN', values: [`user-${nth}`, `user-${nth + 1}`] }],
      },
    ],
  });
  const evaluator = compileEvaluator(Array.from({ length: 5_000 }, (_, nth) => listing(nth)));
  let reads = 0;
  class CountedFields extends Map<string, string> {
    override get(name: string): string | undefined {
      reads++;
      return super.get(name);
    }
  }
  const context = { fields: new CountedFields([['userId', 'user-7']]), now: new Date(0), random: () => 0.5 };
  expect(evaluator.active(context).map(({ feature }) => feature.name)).toEqual(['flag-6', 'flag-7']);
  expect(reads).toBeLessThan(30);
});

it('a feature is read for its chunk, and again, to be compiled and kept, only once it may be on for a user', () => {
  const reads = new Map<string, number>();
  const features = Array.from({ length: 1_000 }, (_, nth): CompiledFeature => {
    const name = `flag-${nth}`;
    const constraints = [{ contextName: 'userId', operator: 'IN', values: [`user-${nth >> 1}`] }];
    const read = (): EvaluableFeature => {
      reads.set(name, (reads.get(name) ?? 0) + 1);
      return { name, enabled: true, strategies: [{ name: 'default', constraints }] };
    };
    return new CompiledFeature(name, read, () => undefined);
  });
  const chunks = [compileChunk(features)];
  const evaluator = createEvaluator({ find: () => undefined, enabled: () => chunks, all: () => chunks });
  const activeFor = (userId: string) =>
    evaluator
      .active({ fields: new Map([['userId', userId]]), now: new Date(0), random: () => 0.5 })
      .map(({ feature }) => feature.name);
  for (const _ of [1, 2]) expect(activeFor('user-7')).toEqual(['flag-14', 'flag-15']);
  expect(activeFor('nobody')).toEqual([]);
  expect([...reads.entries()].filter(([, times]) => times > 1)).toEqual([
    ['flag-14', 2],
    ['flag-15', 2],
  ]);
});
