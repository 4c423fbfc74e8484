import { describe, expect, it } from 'vitest';
import type { Change, Constraint, FeatureImpact } from '@bunting/contracts';
import { aFeature, aStrategy, refusalOf } from '../../test/builders.ts';
import type { Feature, Strategy } from '../features/feature.ts';
import { computeImpactOnUsers, affectedFeatures, maxFeaturesOfImpact } from './impact-on-users.ts';

const environment = 'development';
const inNorway: Constraint = { contextName: 'country', operator: 'IN', values: ['no'] };
const rollout = (percentage: number, about: Partial<Strategy> = {}): Strategy =>
  aStrategy({
    name: 'flexibleRollout',
    parameters: { rollout: String(percentage), stickiness: 'default', groupId: 'checkout' },
    ...about,
  });
const withVariant = (name: string) =>
  rollout(100, {
    constraints: [inNorway],
    variants: [{ name, weight: 1000, weightType: 'variable', stickiness: 'default' }],
  });
const contentOf = (features: readonly Feature[]) => ({ environments: [environment], features, segments: [] });

const impact = (before: readonly Feature[], after: readonly Feature[], examples: Record<string, string>[] = []) =>
  computeImpactOnUsers(
    { before: contentOf(before), after: contentOf(after) },
    environment,
    before.map(({ name }) => ({ name })),
    {
      examples: examples.map((fields) => new Map(Object.entries(fields))),
      now: new Date('2026-01-01T00:00:00.000Z'),
    },
  );
/** The impact of replacing the strategy of an enabled feature. */
const impactOfUpdate = (before: Strategy, after: Strategy, examples?: Record<string, string>[]): FeatureImpact => {
  const [from, to] = [before, after].map((strategy) => aFeature({ enabled: true, strategies: [strategy] }));
  const [found] = impact([from as Feature], [to as Feature], examples).features;
  return found as FeatureImpact;
};

describe('the impact of changes on users', () => {
  it('is the share of users that gain and lose the feature, by the values that constraints compare', () => {
    const constraints = [inNorway];
    const { isComplete, groups } = impactOfUpdate(rollout(20, { constraints }), rollout(50, { constraints }));
    expect(isComplete).toBe(true);
    const [others, norway] = groups;
    expect(others).toEqual({ context: {}, before: 0, after: 0, gains: 0, loses: 0, changesVariant: 0 });
    // A rollout only adds users as its percentage grows.
    expect(norway).toMatchObject({ context: { country: 'no' }, before: 20, after: 50, gains: 30, loses: 0 });
  });

  it('is the percentage of a rollout itself, whatever its group is', () => {
    const of = (percentage: number, groupId: string) =>
      aStrategy({
        name: 'flexibleRollout',
        parameters: { rollout: String(percentage), stickiness: 'default', groupId },
      });
    for (const [nth, percentage] of [1, 7, 33, 60, 99].entries()) {
      const { groups } = impactOfUpdate(of(0, `group-${nth}`), of(percentage, `group-${nth}`));
      expect(groups).toMatchObject([{ before: 0, after: percentage, gains: percentage, loses: 0 }]);
    }
  });

  it('shows that every user gains the feature when the last constraint goes', () => {
    expect(impactOfUpdate(rollout(100, { constraints: [inNorway] }), rollout(100)).groups).toMatchObject([
      { context: {}, before: 0, after: 100, gains: 100 },
      { context: { country: 'no' }, before: 100, after: 100, gains: 0 },
    ]);
  });

  it('shows example users before and after, with their variants', () => {
    const examples: Record<string, string>[] = [{ userId: '7', country: 'no' }, { country: 'se' }];
    const found = impactOfUpdate(withVariant('blue'), withVariant('red'), examples);
    expect(found.examples).toEqual([
      { before: { isEnabled: true, variant: 'blue' }, after: { isEnabled: true, variant: 'red' } },
      { before: { isEnabled: false, variant: 'disabled' }, after: { isEnabled: false, variant: 'disabled' } },
    ]);
    expect(found.groups[1]).toMatchObject({ changesVariant: 100, gains: 0, loses: 0 });
  });

  it('counts a strategy that only the application can evaluate as off, and says so', () => {
    const ourOwn = aStrategy({ name: 'ourOwn' });
    expect(impactOfUpdate(ourOwn, ourOwn)).toMatchObject({ isComplete: false, groups: [{ before: 0, after: 0 }] });
  });

  it('is that of its parents for a feature that depends on others', () => {
    const dependencies = [{ feature: 'checkout', enabled: true, variants: [] }];
    const child = aFeature({ name: 'child', enabled: true, dependencies, strategies: [rollout(100)] });
    const parent = (constraints: Constraint[]) =>
      aFeature({ name: 'checkout', enabled: true, strategies: [rollout(100, { constraints })] });
    const { features } = computeImpactOnUsers(
      { before: contentOf([parent([]), child]), after: contentOf([parent([inNorway]), child]) },
      environment,
      [{ name: 'child', dependsOn: ['checkout'] }],
      { examples: [], now: new Date('2026-01-01T00:00:00.000Z') },
    );
    expect(features).toMatchObject([
      {
        name: 'child',
        dependsOn: ['checkout'],
        groups: [
          { context: {}, before: 100, after: 0, loses: 100 },
          { context: { country: 'no' }, before: 100, after: 100, loses: 0 },
        ],
      },
    ]);
  });

  it('is for changed features as thorough as without those that depend on them', () => {
    const strategies = Array.from({ length: 10 }, (_, nth) => {
      const constraints = [{ ...inNorway, values: [`country-${nth}`] }];
      return rollout(100, { id: `strategy-${nth}`, constraints });
    });
    const [before, after] = [100, 50].map((share) =>
      aFeature({
        enabled: true,
        strategies: [...strategies.slice(1), { ...strategies[0]!, ...rollout(share), constraints: [inNorway] }],
      }),
    ) as [Feature, Feature];
    const dependencies = [{ feature: 'checkout', enabled: true, variants: [] }];
    const children = Array.from({ length: 19 }, (_, nth) =>
      aFeature({ name: `child-${nth}`, enabled: true, dependencies, strategies: [rollout(100)] }),
    );
    const impactWith = (some: readonly Feature[]) =>
      computeImpactOnUsers(
        { before: contentOf([before, ...some]), after: contentOf([after, ...some]) },
        environment,
        [{ name: 'checkout' }, ...some.map(({ name }) => ({ name, dependsOn: ['checkout'] }))],
        { examples: [], now: new Date('2026-01-01T00:00:00.000Z') },
      );
    const [alone, together] = [impactWith([]), impactWith(children)];
    expect([together.users, together.features[0]]).toEqual([alone.users, alone.features[0]]);
    const dependents = together.features.slice(1);
    expect(dependents.length).toBeGreaterThan(6);
    for (const { groups } of dependents) {
      expect(groups).toHaveLength(4);
      expect(groups.find(({ context }) => context['country'] === 'no')?.loses).toBeGreaterThan(0);
    }
    const evaluations = dependents.reduce((sum, { groups }) => sum + groups.length, 0) * together.users;
    expect(evaluations).toBeLessThanOrEqual(32_000);
  });

  it('says that it is not complete where a parent has a strategy that only the application can evaluate', () => {
    const dependencies = [{ feature: 'checkout', enabled: true, variants: [] }];
    const child = aFeature({ name: 'child', enabled: true, dependencies, strategies: [rollout(100)] });
    const parent = aFeature({ name: 'checkout', enabled: true, strategies: [aStrategy({ name: 'ourOwn' })] });
    expect(impact([child, parent], [child, parent]).features).toMatchObject([
      { name: 'child', isComplete: false },
      { name: 'checkout', isComplete: false },
    ]);
  });

  it('counts an archived feature as off', () => {
    const { features } = impact([aFeature({ enabled: true, strategies: [rollout(100)] })], []);
    expect(features).toMatchObject([{ groups: [{ before: 100, after: 0, loses: 100 }] }]);
  });
});

describe('the groups of users', () => {
  const now = '2026-01-01T00:00:00.000Z';
  it.each<[string, Partial<Constraint>, string[]]>([
    ['one for each value of a list', { operator: 'IN', values: ['no', 'se'] }, ['no', 'se']],
    ['four for a list of more values', { operator: 'NOT_IN', values: ['a', 'b', 'c', 'd', 'e'] }, ['a', 'b', 'c', 'd']],
    ['at and above an exclusive lower bound', { operator: 'NUM_GT', value: '5' }, ['6', '5']],
    ['at and below an inclusive lower bound', { operator: 'NUM_GTE', value: '5' }, ['5', '4']],
    ['at and below an exclusive upper bound', { operator: 'NUM_LT', value: '5' }, ['4', '5']],
    ['at and above an inclusive upper bound', { operator: 'NUM_LTE', value: '5' }, ['5', '6']],
    ['at and beside a number', { operator: 'NUM_EQ', value: '5' }, ['5', '6']],
    [
      'a minute after and before a date',
      { operator: 'DATE_AFTER', value: now },
      ['2026-01-01T00:01:00.000Z', '2025-12-31T23:59:00.000Z'],
    ],
    [
      'a minute before and after a date',
      { operator: 'DATE_BEFORE', value: now },
      ['2025-12-31T23:59:00.000Z', '2026-01-01T00:01:00.000Z'],
    ],
    ['above and below a version', { operator: 'SEMVER_GT', value: '1.2.0' }, ['99999.0.0', '0.0.0']],
    ['at, below and above a version', { operator: 'SEMVER_GTE', value: '1.2.0' }, ['1.2.0', '0.0.0', '99999.0.0']],
    ['none for a bound that is no number', { operator: 'NUM_GT', value: 'many' }, []],
  ])('are %s', (_, constraint, values) => {
    const strategy = rollout(100, { constraints: [{ ...inNorway, values: [], ...constraint } as Constraint] });
    const { groups } = impactOfUpdate(strategy, strategy);
    expect(groups.map(({ context }) => context)).toEqual([{}, ...values.map((country) => ({ country }))]);
  });

  it('have the values of the parameter of a strategy', () => {
    const strategy = aStrategy({ name: 'userWithId', parameters: { userIds: 'ada, grace' } });
    expect(impactOfUpdate(strategy, strategy).groups).toMatchObject([
      { context: {}, before: 0 },
      { context: { userId: 'ada' }, before: 100 },
      { context: { userId: 'grace' }, before: 100 },
    ]);
  });

  it('are one for each strategy, which it matches, when there are too many combinations', () => {
    const constraints = Array.from({ length: 30 }, (_, nth) => ({
      contextName: `field-${nth}`,
      operator: 'IN' as const,
      values: Array.from({ length: 50 }, (_unused, value) => `value-${value}`),
    }));
    const { groups } = impactOfUpdate(rollout(100, { constraints }), rollout(50, { constraints }));
    expect(groups).toHaveLength(2);
    expect(groups[1]).toMatchObject({ before: 100, context: { 'field-0': 'value-0', 'field-29': 'value-0' } });
  });
});

it('a thousand users are generated for each group, and fewer for many groups, to bound the work', () => {
  const featuresOf = (count: number) =>
    Array.from({ length: count }, (_, nth) => {
      const constraints = [{ ...inNorway, values: ['a', 'b', 'c', 'd'] }];
      return aFeature({ name: `flag-${nth}`, enabled: true, strategies: [rollout(50, { constraints })] });
    });
  const usersOf = (features: readonly Feature[]) => impact(features, features).users;
  expect([usersOf([aFeature()]), usersOf(featuresOf(2)), usersOf(featuresOf(20))]).toEqual([1_000, 1_000, 400]);
});

describe('the features that changes concern', () => {
  const change: Change = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
  const deletion: Change = { action: 'deleteSegment', payload: { id: 1 } };
  const user = aFeature({ name: 'user', strategies: [rollout(50, { segments: [1] })] });
  const features = [aFeature(), user, aFeature({ name: 'other', strategies: [rollout(50, { segments: [2] })] })];
  const affected = (changes: readonly Change[], where = environment, hidden: string[] = []) =>
    affectedFeatures(contentOf(features), changes, where, hidden).map(({ name }) => name);

  it('are those that they change and those that use a changed segment in the environment', () => {
    expect(affected([change])).toEqual(['checkout']);
    expect(affected([change, deletion])).toEqual(['checkout', 'user']);
    expect(affected([deletion], 'production')).toEqual([]);
  });

  it('are, after these, those that depend on them, up to twenty in all', () => {
    const child = aFeature({ name: 'child', dependencies: [{ feature: 'checkout', enabled: true, variants: [] }] });
    const secret = { ...child, name: 'secret', project: 'hidden' };
    expect(affectedFeatures(contentOf([child, ...features, secret]), [change], environment, ['hidden'])).toEqual([
      { name: 'checkout' },
      { name: 'child', dependsOn: ['checkout'] },
    ]);
    const children = Array.from({ length: 30 }, (_, nth) => ({ ...child, name: `child-${nth}` }));
    expect(affectedFeatures(contentOf([...features, ...children]), [change], environment, [])).toHaveLength(20);
  });

  it('are not in projects that are hidden from the caller', () => {
    expect(affected([change, deletion], environment, ['shop'])).toEqual([]);
  });

  it('are at most twenty', () => {
    const users = Array.from({ length: maxFeaturesOfImpact }, (_, nth) => ({ ...user, name: `user-${nth}` }));
    expect(affectedFeatures(contentOf(users), [deletion], environment, [])).toHaveLength(20);
    const tooMany = () => affectedFeatures(contentOf([...users, user]), [deletion], environment, []);
    expect(refusalOf(tooMany).details).toMatchObject([{ path: '/body/changes' }]);
  });
});
