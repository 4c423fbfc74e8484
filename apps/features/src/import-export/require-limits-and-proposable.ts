import type { ImportDecision } from './decide-import.ts';
import { requireProposable } from './require-proposable.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { type AddedFeatures, requireBelowLimits } from '../features/require-below-limits.ts';
import type { ImportRequest } from './import-authorship.ts';

/** Refuses features that would exceed a limit, changes that exceed a change request, and those that the caller may not propose. */
export const requireLimitsAndProposable = async (
  tx: Pick<Transaction, 'projects'>,
  { body: { project }, caller }: ImportRequest,
  { added, proposed }: ImportDecision,
  limits: Pick<AddedFeatures, 'projectFeatureLimit' | 'instanceFeatureLimit'>,
): Promise<void> => {
  const adding = added.length;
  if (adding > 0) await requireBelowLimits(tx, { project, ...limits, adding });
  if (proposed !== undefined) requireProposable(caller, project, proposed.changes);
};
