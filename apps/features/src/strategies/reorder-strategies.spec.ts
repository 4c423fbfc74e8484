import { describe, expect, it } from 'vitest';
import { aFeature, aStrategy, someProjectContext } from '../../test/builders.ts';
import { refusalOf } from '../../test/refusal-of.ts';
import { reorderStrategies } from './edit-strategy.ts';

const strategies = ['one', 'two', 'three'].map((id, sortOrder) => aStrategy({ id, sortOrder }));
const feature = aFeature({ strategies });
const reordered = (positions: readonly { id: string; sortOrder: number }[], environment = 'development') =>
  reorderStrategies(feature, environment, positions, { projectContext: someProjectContext(), path: '/body' });

describe('a new order of strategies', () => {
  it('leaves strategies that it does not name where they are', () => {
    expect(reordered([{ id: 'one', sortOrder: 5 }]).events).toMatchObject([
      {
        type: 'strategy-order-changed',
        environment: 'development',
        preData: { strategyIds: ['one', 'two', 'three'] },
        data: { strategyIds: ['two', 'three', 'one'] },
      },
    ]);
  });

  it('emits nothing if it is the order that they have', () => {
    expect(reordered([{ id: 'three', sortOrder: 2 }])).toEqual({ feature, events: [] });
  });

  it.each([
    ['a strategy that the feature does not have there', [{ id: 'four', sortOrder: 0 }], '/body/0/id'],
    ['two sort orders of one strategy', ['one', 'one'].map((id, sortOrder) => ({ id, sortOrder })), '/body/1/id'],
  ])('is refused for %s', (_, positions, path) => {
    expect(refusalOf(() => reordered(positions)).details).toMatchObject([{ path }]);
  });

  it('is refused in an environment that the project does not have', () => {
    expect(refusalOf(() => reordered([], 'staging'))).toMatchObject({
      kind: 'NotFoundError',
      message: 'Feature checkout does not have environment staging',
    });
  });
});
