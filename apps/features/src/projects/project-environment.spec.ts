import { describe, expect, it } from 'vitest';
import { aFeature, aStrategy, someProjectContext, refusalOf } from '../../test/builders.ts';
import {
  addProjectEnvironment,
  defaultStrategyUpdated,
  normalizeDefaultStrategy,
  removeProjectEnvironment,
  withoutEnvironment,
} from './project-environment.ts';

const shop = { project: { id: 'shop' }, environments: ['development'] };

it('a project gets an environment once', () => {
  const added = { type: 'project-environment-added', project: 'shop', environment: 'staging' };
  expect(addProjectEnvironment(shop, 'staging', true)).toEqual(added);
  expect(refusalOf(() => addProjectEnvironment(shop, 'development', true))).toMatchObject({
    kind: 'ConflictError',
    message: 'shop already has the environment development enabled',
  });
});

it('a project can get only an environment that exists', () => {
  expect(refusalOf(() => addProjectEnvironment(shop, 'moon', false))).toMatchObject({
    kind: 'ValidationError',
    message: 'Could not find environment moon: see the `/body/environment` property.',
  });
});

it('a project can lose only an environment that it has', () => {
  const removed = { type: 'project-environment-removed', project: 'shop', environment: 'development' };
  expect(removeProjectEnvironment(shop, 'development')).toEqual(removed);
  expect(refusalOf(() => removeProjectEnvironment(shop, 'staging'))).toMatchObject({
    kind: 'NotFoundError',
    message: 'Could not find environment staging for project: shop',
  });
});

it('a project that loses an environment keeps none of its settings', () => {
  const feature = aFeature({ strategies: [aStrategy()], enabled: true });
  expect(withoutEnvironment(feature, 'development').environments).toEqual({});
});

describe('a default strategy', () => {
  const validated = (name: string, environment = 'development') =>
    normalizeDefaultStrategy('shop', environment, { name, parameters: { rollout: '10' } }, someProjectContext());

  it('is a gradual rollout in an environment of the project', () => {
    expect(validated('flexibleRollout')).toMatchObject({ name: 'flexibleRollout', parameters: { rollout: '10' } });
    expect(refusalOf(() => validated('default')).message).toMatch(/^Only "flexibleRollout".*`\/body\/name`/);
    expect(refusalOf(() => validated('flexibleRollout', 'moon')).kind).toBe('NotFoundError');
  });

  it('that replaces another one emits both, and that is the same emits nothing', () => {
    const at = { project: 'shop', environment: 'development' };
    const [half, all] = [validated('flexibleRollout'), { name: 'flexibleRollout', parameters: { rollout: '100' } }];
    expect(defaultStrategyUpdated(at, half, all)).toEqual([
      { type: 'default-strategy-updated', ...at, data: all, preData: half },
    ]);
    expect(defaultStrategyUpdated(at, null, half)).toMatchObject([{ data: half, preData: null }]);
    expect(defaultStrategyUpdated(at, half, { ...half })).toEqual([]);
  });
});
