import type { ImportDecision } from '../../domain/import/decide-import.ts';
import { requireProposable } from '../../domain/import/protected-parts.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';
import { requireBelowLimits } from '../features/require-below-limits.ts';
import type { ImportRequest } from './import-context.ts';

interface Limits {
  /** the maximum number of active features of the project; null for no limit */
  readonly featureLimit: number | null;
  /** the maximum number of active features in all projects; undefined for no limit */
  readonly instanceFeatureLimit: number | undefined;
}

/** Refuses features that would exceed a limit, changes that exceed a change request, and those that the caller may not propose. */
export const requireImportable = async (
  tx: Pick<Transaction, 'projects'>,
  { body: { project }, caller }: ImportRequest,
  { added, proposed }: ImportDecision,
  { featureLimit: projectFeatureLimit, instanceFeatureLimit }: Limits,
): Promise<void> => {
  const adding = added.length;
  if (adding > 0) await requireBelowLimits(tx, { project, projectFeatureLimit, instanceFeatureLimit, adding });
  if (proposed !== undefined) requireProposable(caller, project, proposed.changes);
};
