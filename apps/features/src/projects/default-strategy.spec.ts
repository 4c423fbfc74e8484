import { describe, expect, it } from 'vitest';
import { someProjectContext } from '../../test/builders.ts';
import { refusalOf } from '../../test/refusal-of.ts';
import { defaultStrategyUpdated, normalizeDefaultStrategy } from './project-environment.ts';

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
