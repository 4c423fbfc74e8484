import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Constraint,
  CreateContextField,
  CreateProject,
  CreateSegment,
  EvaluateImpact,
  type ImpactResult,
} from '@bunting/contracts';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { mia, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  await features.call(CreateProject, { body: { id: 'shop', name: 'Shop' } });
});
afterAll(() => features.stop());
beforeEach(() =>
  features.database.transaction(({ query }) => query('truncate feature, segment restart identity cascade')),
);

const id = '8c0f4d2e-0000-4000-8000-000000000001';
const rollout = (percentage: number, more: object = {}) => ({
  name: 'flexibleRollout',
  parameters: { rollout: String(percentage), stickiness: 'default', groupId: 'checkout' },
  ...more,
});
const inNorway: Constraint = { contextName: 'country', operator: 'IN', values: ['no'] };

const computeImpactOnUsers = (changes: unknown, more: object = {}, caller = mia): Promise<ImpactResult> =>
  features.call(EvaluateImpact, { body: { project: 'default', environment: 'development', changes, ...more } }, caller);
const update = (payload: object, feature = 'checkout') => ({
  action: 'updateStrategy',
  feature,
  payload: { id, ...payload },
});

describe('the impact of changes on users', () => {
  it('is the share of users that gain and lose the feature, by the values that constraints compare', async () => {
    const strategies = [aStrategy({ id, ...rollout(20), constraints: [inNorway] })];
    await features.given(aFeature({ project: 'default', enabled: true, strategies }));
    const { users, features: found } = await computeImpactOnUsers(update(rollout(50, { constraints: [inNorway] })));
    expect(users).toBe(1_000);
    const [checkout] = found;
    expect(checkout).toMatchObject({ name: 'checkout', isComplete: true });
    const [others, norway] = checkout?.groups ?? [];
    expect(others).toEqual({ context: {}, before: 0, after: 0, gains: 0, loses: 0, changesVariant: 0 });
    expect(norway).toMatchObject({ context: { country: 'no' }, loses: 0 });
    // A rollout only adds users as its percentage grows.
    expect(norway?.gains).toBeCloseTo((norway?.after ?? 0) - (norway?.before ?? 0), 5);
    expect(Math.abs((norway?.before ?? 0) - 20)).toBeLessThan(5);
    expect(Math.abs((norway?.after ?? 0) - 50)).toBeLessThan(5);
  });

  it('evaluates example users before and after, with their variants', async () => {
    const variant = (name: string) => [{ name, weight: 1000, weightType: 'variable', stickiness: 'default' }];
    const strategies = [
      aStrategy({ id, ...rollout(100), constraints: [inNorway], variants: variant('blue') as never }),
    ];
    await features.given(aFeature({ project: 'default', enabled: true, strategies }));
    const { features: found } = await computeImpactOnUsers(
      update(rollout(100, { constraints: [inNorway], variants: variant('red') })),
      { contexts: [{ userId: '7', properties: { country: 'no' } }, { country: 'se' }] },
    );
    expect(found[0]?.examples).toEqual([
      { before: { isEnabled: true, variant: 'blue' }, after: { isEnabled: true, variant: 'red' } },
      { before: { isEnabled: false, variant: 'disabled' }, after: { isEnabled: false, variant: 'disabled' } },
    ]);
    expect(found[0]?.groups[1]).toMatchObject({ changesVariant: 100, gains: 0, loses: 0 });
  });

  it('covers a segment that a change refers to for the first time, and every user of a segment that changes', async () => {
    await features.call(CreateContextField, { body: { name: 'plan' } });
    const { id: segment } = await features.call(CreateSegment, {
      body: {
        name: 'beta',
        project: 'default',
        constraints: [{ contextName: 'plan', operator: 'IN', values: ['pro'] }],
      },
    });
    await features.given(
      aFeature({ project: 'default', enabled: true, strategies: [aStrategy({ id, ...rollout(100) })] }),
    );
    const narrowed = await computeImpactOnUsers(update(rollout(100, { segments: [segment] })));
    expect(narrowed.features[0]?.groups).toMatchObject([
      { context: {}, before: 100, after: 0, loses: 100 },
      { context: { plan: 'pro' }, before: 100, after: 100 },
    ]);
    await features.given(
      aFeature({
        name: 'user-of-beta',
        project: 'default',
        enabled: true,
        strategies: [aStrategy({ ...rollout(100), segments: [segment] })],
      }),
    );
    const payload = { id: segment, constraints: [{ contextName: 'plan', operator: 'IN', values: ['free'] }] };
    const { features: found } = await computeImpactOnUsers({ action: 'updateSegment', payload });
    expect(found.map(({ name }) => name)).toEqual(['user-of-beta']);
    expect(found[0]?.groups).toMatchObject([
      { context: {}, gains: 0, loses: 0 },
      { context: { plan: 'pro' }, loses: 100 },
      { context: { plan: 'free' }, gains: 100 },
    ]);
  });

  it.each([
    ['a change that is none', { action: 'explode', feature: 'checkout' }, {}, /action/],
    ['no changes', [], {}, /changes|items/],
    ['an unknown environment', update({}), { environment: 'moon' }, /Could not find environment/],
    ['an unknown project', update({}), { project: 'moon' }, /Could not find project/],
    [
      'changes that could not be applied',
      { action: 'deleteStrategy', feature: 'nothing', payload: { id } },
      {},
      /could not be applied/,
    ],
  ])('refuses %s', async (_, changes, more, message) => {
    await expect(computeImpactOnUsers(changes, more)).rejects.toThrow(message);
  });

  it('refuses a project that is hidden from the caller as an unknown one', async () => {
    await features.given(aFeature({ project: 'shop', enabled: true, strategies: [aStrategy({ id })] }));
    const request = computeImpactOnUsers(update({}), { project: 'shop' }, { ...mia, hiddenProjects: ['shop'] });
    await expect(request).rejects.toThrow('Could not find project with id shop');
  });
});
