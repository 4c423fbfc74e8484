import type { Decision } from './feature.ts';
import { type FeatureNaming, requireUrlFriendlyName } from '../names.ts';
import { activeProjectNotFound, featureNameTaken } from '../refusals.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { requireBelowLimits } from './require-below-limits.ts';

interface NewFeature {
  /** a project that the transaction has locked */
  readonly project: string;
  readonly name: string;
  /** the maximum number of active features in all projects; undefined for no limit */
  readonly instanceFeatureLimit: number | undefined;
}

/**
 * Decides by a rule about one feature that is created or cloned; `decideImport` decides about imported ones. Refuses in this order: a name
 * that is invalid or taken, what the rule refuses, a project that is archived or does not exist, and one feature more than a limit.
 * @param rule creates the feature in a project with the given pattern for names
 */
export const decideCreateOrClone = async (
  tx: Pick<Transaction, 'projects'>,
  { project: id, name, instanceFeatureLimit }: NewFeature,
  rule: (naming: FeatureNaming | null) => Decision,
): Promise<Decision> => {
  requireUrlFriendlyName(name);
  const { taken, project } = await tx.projects.newFeatureContext(id, name);
  if (taken !== null) throw featureNameTaken(taken);
  const decision = rule(project?.naming ?? null);
  if (project === null) throw activeProjectNotFound(id);
  const { featureLimit: projectFeatureLimit } = project;
  await requireBelowLimits(tx, { project: id, projectFeatureLimit, instanceFeatureLimit, adding: 1 });
  return decision;
};
