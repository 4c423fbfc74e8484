import { type StrategyVariant, totalWeight } from '@bunting/contracts';

const share = (variants: readonly StrategyVariant[], total: number): StrategyVariant[] => {
  const each = Math.floor(total / Math.max(1, variants.length));
  const rest = total - each * variants.length;
  return variants.map((variant, nth) => ({ ...variant, weight: each + (nth < rest ? 1 : 0) }));
};

/** The weights of all variable variants are equal, and make 1000 with those of the fixed ones. */
export const withEqualWeights = (variants: readonly StrategyVariant[]): StrategyVariant[] => {
  const fixed = variants.filter(({ weightType }) => weightType === 'fix').reduce((sum, { weight }) => sum + weight, 0);
  const variable = share(
    variants.filter(({ weightType }) => weightType !== 'fix'),
    Math.max(0, totalWeight - fixed),
  );
  let next = 0;
  return variants.map((variant) => (variant.weightType === 'fix' ? variant : (variable[next++] as StrategyVariant)));
};

/** Fixes the weight of one variant, in thousandths; the variable ones share what the fixed ones leave. */
export const withWeight = (variants: readonly StrategyVariant[], index: number, weight: number): StrategyVariant[] => {
  const bounded = Number.isFinite(weight) ? Math.min(totalWeight, Math.max(0, weight)) : 0;
  const isLastVariable = variants.every(({ weightType }, nth) => nth === index || weightType === 'fix');
  return withEqualWeights(
    variants.map((variant, nth) => {
      if (nth === index) return { ...variant, weight: bounded, weightType: 'fix' };
      // If no variable variant is left, another one becomes variable and gets the remaining weight.
      return isLastVariable && nth === (index === 0 ? variants.length - 1 : 0)
        ? { ...variant, weightType: 'variable' }
        : variant;
    }),
  );
};
