import { type StrategyVariant, totalWeight } from '@bunting/contracts';

/** Divides `total` evenly; the first variants get one more while it does not divide evenly. */
const distribute = (variants: readonly StrategyVariant[], total: number): StrategyVariant[] => {
  const each = Math.floor(total / Math.max(1, variants.length));
  const remainder = total - each * variants.length;
  return variants.map((variant, index) => ({ ...variant, weight: each + (index < remainder ? 1 : 0) }));
};

/** Gives all variable variants the same weight, so that the sum of all weights, with the fixed ones, is 1000. */
export const withEqualWeights = (variants: readonly StrategyVariant[]): StrategyVariant[] => {
  const fixed = variants.filter(({ weightType }) => weightType === 'fix').reduce((sum, { weight }) => sum + weight, 0);
  const variable = distribute(
    variants.filter(({ weightType }) => weightType !== 'fix'),
    Math.max(0, totalWeight - fixed),
  );
  let nextVariable = 0;
  return variants.map((variant) =>
    variant.weightType === 'fix' ? variant : (variable[nextVariable++] as StrategyVariant),
  );
};

/** Fixes the weight of one variant, in thousandths. The variable ones get equal shares of what the fixed ones leave. */
export const withWeight = (variants: readonly StrategyVariant[], index: number, weight: number): StrategyVariant[] => {
  const bounded = Number.isFinite(weight) ? Math.min(totalWeight, Math.max(0, weight)) : 0;
  const isLastVariable = variants.every(({ weightType }, other) => other === index || weightType === 'fix');
  return withEqualWeights(
    variants.map((variant, other) => {
      if (other === index) return { ...variant, weight: bounded, weightType: 'fix' };
      // If no variable variant is left, another one becomes variable and gets the remaining weight.
      return isLastVariable && other === (index === 0 ? variants.length - 1 : 0)
        ? { ...variant, weightType: 'variable' }
        : variant;
    }),
  );
};
