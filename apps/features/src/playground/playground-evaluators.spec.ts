import { describe, expect, it } from 'vitest';
import type { Constraint } from '@bunting/contracts';
import { compileEvaluator, type EvaluationContext } from '@bunting/evaluation';
import fc from 'fast-check';
import { aFeature, aSegment as aStoredSegment, aStrategy, refusalOf } from '../../test/builders.ts';
import { toDeliveredFeature } from '../unit-of-work/delivery.ts';
import type { Feature, Strategy } from '../features/feature.ts';
import { tableCellEvaluator, playgroundEvaluator } from './playground-evaluators.ts';
import {
  type PlaygroundContent,
  withChanges,
  combinationsOf,
  combinationsOfAll,
  readContext,
  maxFeatures,
  requireFeaturesWithin,
  requireShowable,
} from './playground.ts';

const environment = 'development';
const inNorway: Constraint = { contextName: 'country', operator: 'IN', values: ['no'] };
const on = { enabled: true, strategies: [aStrategy()] };
const dependsOnParent = { dependencies: [{ feature: 'parent', enabled: true, variants: [] }] };
const contentOf = (features: readonly Feature[], more: Partial<PlaygroundContent> = {}): PlaygroundContent => ({
  environments: [environment],
  features,
  segments: [],
  ...more,
});
const contextOf = (fields: Readonly<Record<string, string>> = {}): EvaluationContext => ({
  fields: new Map(Object.entries(fields)),
  now: new Date('2026-01-01T00:00:00.000Z'),
  random: () => 0.5,
});
/** A segment as the playground reads it. */
const aSegment = (about: Parameters<typeof aStoredSegment>[0] = {}) => {
  const { id, name, constraints } = aStoredSegment(about);
  return { id, name, constraints };
};
const objectsOf = (maps: readonly ReadonlyMap<string, string>[]) => maps.map((map) => Object.fromEntries(map));

describe('a context of the playground', () => {
  it.each<[string, Record<string, unknown>, Record<string, string>, string[]]>([
    ['fields and properties alike', { userId: '7', properties: { country: 'no' } }, { userId: '7', country: 'no' }, []],
    [
      'a field rather than the property of that name',
      { a: 'field', properties: { a: 'property' } },
      { a: 'field' },
      [],
    ],
    ['numbers and booleans as text', { age: 7, isPaying: true }, { age: '7', isPaying: 'true' }, []],
    ['no lists, objects and nulls, which it reports', { a: [1], b: {}, c: null }, {}, ['a', 'b', 'c']],
    ['no properties that are not an object, which it reports', { properties: 'none' }, {}, ['properties']],
  ])('has %s', (_, context, fields, ignored) => {
    const read = readContext(context);
    expect([Object.fromEntries(read.fields), read.ignored]).toEqual([fields, ignored]);
  });
});

describe('the combinations of a context', () => {
  it.each<[string, Record<string, string>, Record<string, string>[]]>([
    ['one, if no field has several values', { userId: '7' }, [{ userId: '7' }]],
    ['one without fields for an empty context', {}, [{}]],
    [
      'every value of a field with every value of the others',
      { userId: '1, 2', country: 'no,se' },
      [
        { userId: '1', country: 'no' },
        { userId: '1', country: 'se' },
        { userId: '2', country: 'no' },
        { userId: '2', country: 'se' },
      ],
    ],
    ['each value once, without blanks and gaps', { userId: '1, 1,,2 ' }, [{ userId: '1' }, { userId: '2' }]],
    ['an empty value if a field has no other', { userId: ' , ' }, [{ userId: '' }]],
  ])('are %s', (_, fields, combinations) => {
    expect(objectsOf(combinationsOf(new Map(Object.entries(fields))))).toEqual(combinations);
  });

  it('are those of each of several contexts, one after the other', () => {
    const contexts = [new Map([['country', 'no,se']]), new Map([['userId', '7']])];
    expect(objectsOf(combinationsOfAll(contexts))).toEqual([{ country: 'no' }, { country: 'se' }, { userId: '7' }]);
  });
});

describe('the limits of the playground', () => {
  const tooMany = /at most 15000 evaluations .*context: see the `\/body` property\.$/;
  const manyValues = Array.from({ length: 20_000 }, (_, n) => n).join();

  it.each<[string, () => unknown]>([
    ['more combinations than the limit', () => combinationsOf(new Map([['userId', manyValues]]))],
    [
      'combinations whose product overflows',
      () => combinationsOf(new Map(Array.from({ length: 2_000 }, (_, n) => [`field${n}`, 'a,b,c']))),
    ],
    [
      'contexts that have more combinations together',
      () => combinationsOfAll([1, 2].map(() => new Map([['userId', manyValues.slice(0, 50_000)]]))),
    ],
    ['more evaluations of each feature than the limit', () => maxFeatures(15_001)],
    ['more features than the limit', () => requireFeaturesWithin(contentOf([aFeature(), aFeature()]), 1)],
  ])('refuse %s', (_, job) => {
    expect(refusalOf(job)).toMatchObject({ kind: 'ValidationError', message: expect.stringMatching(tooMany) });
  });

  it('allow as many features as evaluations remain for each', () => {
    expect([maxFeatures(1), maxFeatures(1_000), maxFeatures(4_000)]).toEqual([15_000, 15, 3]);
    expect(() => requireFeaturesWithin(contentOf([aFeature()]), 1)).not.toThrow();
  });

  it('refuse to show strategies and segments that are large for each of many contexts', () => {
    const constraints = [{ ...inNorway, values: ['v'.repeat(1_000_000)] }];
    const heavy = contentOf([aFeature({ strategies: [aStrategy({ constraints })] })]);
    const heavySegment = contentOf([aFeature({ strategies: [aStrategy({ segments: [1] })] })], {
      segments: [aSegment({ constraints })],
    });
    for (const content of [heavy, heavySegment]) {
      expect(() => requireShowable(content, [environment], 16)).not.toThrow();
      expect(refusalOf(() => requireShowable(content, [environment], 17)).message).toMatch(
        /too large to be shown for each context/,
      );
      expect(() => requireShowable(content, ['production'], 17)).not.toThrow();
    }
  });
});

describe('the content after changes', () => {
  const content = contentOf([aFeature(), aFeature({ name: 'search' })], { segments: [aSegment()] });
  const after = (
    features: readonly Feature[],
    segments: readonly [number, ReturnType<typeof aStoredSegment> | null][] = [],
  ) => withChanges(content, { features, segments: new Map(segments), lists: new Map() });

  it('has changed features and segments in place of the earlier ones', () => {
    const [checkout, beta] = [aFeature(on), aStoredSegment({ constraints: [inNorway] })];
    expect(after([checkout], [[1, beta]])).toEqual({
      ...content,
      features: [checkout, aFeature({ name: 'search' })],
      segments: [beta],
    });
  });

  it('has neither archived features nor deleted segments', () => {
    const archived = aFeature({ archivedAt: '2026-01-02T00:00:00.000Z' });
    expect(after([archived], [[1, null]])).toMatchObject({ features: [{ name: 'search' }], segments: [] });
  });

  it('has no list where a change has removed it', () => {
    const ids = { contextName: 'userId', ids: new Set(['ann']) };
    const listed = contentOf([aFeature()], { segments: [{ ...aSegment(), list: ids }] });
    const listAfter = (list?: { contextName: string; size: number; version: number }) =>
      withChanges(listed, { features: [], segments: new Map([[1, aStoredSegment({ list })]]), lists: new Map() })
        .segments[0]?.list;
    expect(listAfter({ contextName: 'userId', size: 1, version: 1 })).toEqual(ids);
    expect(listAfter()).toBeUndefined();
  });

  it('has no feature that it did not have before', () => {
    expect(after([aFeature({ name: 'elsewhere' })]).features).toEqual(content.features);
  });
});

describe('a cell of the table', () => {
  const variants = [{ name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' }] as const;
  it.each<[string, Feature, object]>([
    ['on', aFeature(on), { isEnabled: true, variant: null, isUnknown: false }],
    ['off', aFeature({ strategies: [aStrategy()] }), { isEnabled: false, variant: null, isUnknown: false }],
    [
      'on with the variant',
      aFeature({ ...on, strategies: [aStrategy({ variants: [...variants] })] }),
      { isEnabled: true, variant: 'blue', isUnknown: false },
    ],
    [
      'unknown if only the application can evaluate the strategy',
      aFeature({ ...on, strategies: [aStrategy({ name: 'ourOwn' })] }),
      { isEnabled: false, variant: null, isUnknown: true },
    ],
    ['off if the feature is not there', aFeature({ name: 'other' }), { isEnabled: false, isUnknown: false }],
    ['off if a feature that it depends on is not there', aFeature({ ...on, ...dependsOnParent }), { isEnabled: false }],
  ])('is %s', (_, feature, cell) => {
    expect(tableCellEvaluator(contentOf([feature]), environment)('checkout', contextOf())).toMatchObject(cell);
  });
});

describe('the evaluation of a feature', () => {
  const evaluated = (features: readonly Feature[], more: Partial<PlaygroundContent> = {}, names?: readonly string[]) =>
    playgroundEvaluator(contentOf(features, more), environment, names && new Set(names)).evaluate(
      contextOf({ country: 'no', plan: 'free' }),
    );

  it('shows the result of each constraint and segment', () => {
    const segment = aSegment({ constraints: [{ contextName: 'plan', operator: 'IN', values: ['pro'] }] });
    const feature = aFeature({ ...on, strategies: [aStrategy({ constraints: [inNorway], segments: [1] })] });
    const [checkout] = evaluated([feature], { segments: [segment] });
    expect(checkout).toMatchObject({ isEnabled: false, isEnabledInCurrentEnvironment: true });
    expect(checkout?.strategies.data).toMatchObject([
      {
        constraints: [{ ...inNorway, result: true }],
        segments: [{ id: 1, name: 'beta', result: false, constraints: [{ contextName: 'plan', result: false }] }],
        result: { evaluationStatus: 'complete', enabled: false },
      },
    ]);
  });

  it('shows a disabled strategy without evaluating it, and a custom one as unknown', () => {
    const strategies = [
      aStrategy({ id: 'disabled', disabled: true }),
      aStrategy({ id: 'custom', name: 'ourOwn', constraints: [inNorway] }),
    ];
    expect(evaluated([aFeature({ enabled: true, strategies })])).toMatchObject([
      {
        isEnabled: false,
        strategies: {
          result: 'unknown',
          data: [
            { id: 'disabled', result: { evaluationStatus: 'unevaluated', enabled: false } },
            { id: 'custom', constraints: [{ result: true }], result: { evaluationStatus: 'incomplete' } },
          ],
        },
      },
    ]);
  });

  it('distinguishes a feature that its parent disables from a disabled one', () => {
    const child = aFeature({ ...on, ...dependsOnParent, name: 'child' });
    expect(evaluated([child, aFeature({ name: 'parent' })])).toMatchObject([
      { name: 'child', isEnabled: false, isEnabledInCurrentEnvironment: true, hasUnsatisfiedDependency: true },
      { name: 'parent', isEnabled: false, isEnabledInCurrentEnvironment: false, hasUnsatisfiedDependency: false },
    ]);
    expect(evaluated([child, aFeature({ ...on, name: 'parent' })])[0]).toMatchObject({
      isEnabled: true,
      dependencies: [{ feature: 'parent', result: true }],
    });
  });

  it('says that a feature is off which is enabled and has only disabled strategies, as SDKs do', () => {
    const parent = aFeature({ name: 'parent', enabled: true, strategies: [aStrategy({ disabled: true })] });
    const child = aFeature({ ...on, ...dependsOnParent, name: 'child' });
    expect(evaluated([parent, child])).toMatchObject([
      { name: 'parent', isEnabled: false, isEnabledInCurrentEnvironment: true, strategies: { result: false } },
      { name: 'child', isEnabled: false, hasUnsatisfiedDependency: true },
    ]);
  });

  it('evaluates only the named features, with those that they depend on', () => {
    const child = aFeature({ ...on, ...dependsOnParent, name: 'child' });
    expect(evaluated([child, aFeature({ ...on, name: 'parent' })], {}, ['child'])).toMatchObject([
      { name: 'child', isEnabled: true },
    ]);
  });
});

const generatedStrategy = fc
  .record({
    disabled: fc.boolean(),
    name: fc.constantFrom('default', 'flexibleRollout', 'ourOwn'),
    constraints: fc.constantFrom<Constraint[]>([], [inNorway]),
    segments: fc.subarray([1, 9]),
    variants: fc.constantFrom<Strategy['variants']>(
      [],
      [{ name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' }],
    ),
  })
  .map((about) => aStrategy({ ...about, parameters: { rollout: '50', stickiness: 'userId', groupId: 'g' } }));
const generatedFeatures = fc.array(
  fc.record({
    enabled: fc.boolean(),
    strategies: fc.array(generatedStrategy, { maxLength: 3 }),
    parent: fc.option(fc.record({ feature: fc.constantFrom('f0', 'absent'), enabled: fc.boolean() }), {
      nil: undefined,
    }),
  }),
  { minLength: 2, maxLength: 4 },
);

it('the playground, its table, frontends and OFREP agree with what SDKs are sent, for every generated feature', () => {
  const segments = [aSegment({ constraints: [{ contextName: 'plan', operator: 'IN', values: ['pro'] }] })];
  const agree = (
    generated: typeof generatedFeatures extends fc.Arbitrary<infer It> ? It : never,
    context: EvaluationContext,
  ) => {
    const features = generated.map(({ parent, ...about }, nth) =>
      aFeature({ ...about, name: `f${nth}`, dependencies: parent && nth > 0 ? [{ ...parent, variants: [] }] : [] }),
    );
    const sent = features.map(toDeliveredFeature).flatMap((state) => {
      const settings = state.archived ? undefined : state.environments[environment];
      return state.archived || settings === undefined
        ? []
        : [{ ...settings, name: state.name, dependencies: state.dependencies }];
    });
    const evaluator = compileEvaluator(sent, segments);
    const expected = sent.map(({ name }) => [name, evaluator.evaluate(name, context).enabled]);
    const shownByFrontend = new Set(evaluator.active(context).map(({ feature }) => feature.name));
    const cell = tableCellEvaluator(contentOf(features, { segments }), environment);
    const playground = playgroundEvaluator(contentOf(features, { segments }), environment).evaluate(context);

    expect(playground.map(({ name, isEnabled }) => [name, isEnabled])).toEqual(expected);
    expect(sent.map(({ name }) => [name, cell(name, context).isEnabled])).toEqual(expected);
    expect(sent.map(({ name }) => [name, shownByFrontend.has(name)])).toEqual(expected);
    expect(sent.map(({ name }) => [name, evaluator.resolve(name, context)?.enabled])).toEqual(expected);
    for (const { isEnabled, hasUnsatisfiedDependency, isEnabledInCurrentEnvironment, strategies } of playground)
      expect(isEnabledInCurrentEnvironment && !hasUnsatisfiedDependency && strategies.result === true).toBe(isEnabled);
  };
  const contexts = fc
    .record({
      userId: fc.constantFrom('1', '2', '3', '4'),
      country: fc.constantFrom('no', 'se'),
      plan: fc.constantFrom('pro', ''),
    })
    .map(contextOf);
  fc.assert(fc.property(generatedFeatures, contexts, agree), { numRuns: 300 });
});
