import type { FeatureStrategy } from '@bunting/contracts';
import { strategyFingerprint } from '../../strategies/strategy-draft.ts';

/**
 * Compares the strategies of an environment with those of a reference by their content: `added` are in the environment only, `missing` in
 * the reference only. Without a reference both are empty.
 */
export const differencesToReference = (
  own: readonly FeatureStrategy[],
  reference: readonly FeatureStrategy[] | undefined,
): { readonly added: ReadonlySet<FeatureStrategy>; readonly missing: readonly FeatureStrategy[] } => {
  if (reference === undefined) return { added: new Set(), missing: [] };
  const unmatched = new Map<string, FeatureStrategy[]>();
  for (const strategy of reference) {
    const fingerprint = strategyFingerprint(strategy);
    unmatched.set(fingerprint, [...(unmatched.get(fingerprint) ?? []), strategy]);
  }
  const added = own.filter((strategy) => unmatched.get(strategyFingerprint(strategy))?.shift() === undefined);
  return { added: new Set(added), missing: [...unmatched.values()].flat() };
};
