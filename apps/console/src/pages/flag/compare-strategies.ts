import type { FeatureStrategy } from '@bunting/contracts';
import { strategyFingerprint } from '../../strategies/strategy-draft.ts';

/** The strategies that an environment has beyond a reference (`added`), and lacks (`missing`), by their content; none without a reference. */
export const compareStrategies = (
  own: readonly FeatureStrategy[],
  reference: readonly FeatureStrategy[] | undefined,
): { readonly added: ReadonlySet<FeatureStrategy>; readonly missing: readonly FeatureStrategy[] } => {
  if (reference === undefined) return { added: new Set(), missing: [] };
  const rest = new Map<string, FeatureStrategy[]>();
  for (const strategy of reference) {
    const fingerprint = strategyFingerprint(strategy);
    rest.set(fingerprint, [...(rest.get(fingerprint) ?? []), strategy]);
  }
  const added = own.filter((strategy) => rest.get(strategyFingerprint(strategy))?.shift() === undefined);
  return { added: new Set(added), missing: [...rest.values()].flat() };
};
