import { describe, expect, it } from 'vitest';
import type { StrategyVariant } from '@bunting/contracts';
import { withEqualWeights, withWeight } from './variant-weights.ts';

const variant = (
  name: string,
  weight = 0,
  weightType: StrategyVariant['weightType'] = 'variable',
): StrategyVariant => ({
  name,
  weight,
  weightType,
  stickiness: 'default',
});
const weights = (variants: readonly StrategyVariant[]): number[] => variants.map(({ weight }) => weight);

describe('the weights of variants', () => {
  it('are equal, and make 1000 together', () => {
    expect(weights(withEqualWeights([variant('a'), variant('b'), variant('c')]))).toEqual([334, 333, 333]);
    expect(withEqualWeights([])).toEqual([]);
  });

  it('leave the others what a fixed one does not take', () => {
    const changed = withWeight([variant('a', 500), variant('b', 250), variant('c', 250)], 1, 100);
    expect(weights(changed)).toEqual([450, 100, 450]);
    expect(changed[1]?.weightType).toBe('fix');
  });

  it('always leave one variant that takes the rest', () => {
    const both = withWeight(withWeight([variant('a', 500), variant('b', 500)], 0, 300), 1, 200);
    expect(weights(both)).toEqual([800, 200]);
    expect(both.map(({ weightType }) => weightType)).toEqual(['variable', 'fix']);
  });

  it.each([Number.NaN, -5, 2_000])('stay within 0 and 1000 for %s', (weight) => {
    for (const one of weights(withWeight([variant('a', 500), variant('b', 500)], 0, weight))) {
      expect(one).toBeGreaterThanOrEqual(0);
      expect(one).toBeLessThanOrEqual(1_000);
    }
  });
});
