import { type Decision, strategiesOf } from '../features/feature.ts';
import { requireUsableReferences } from './revive-feature.ts';
import { activeProjectNotFound } from '../refusals.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { requireBelowLimits } from '../features/require-below-limits.ts';

/**
 * Refuses to revive features of one project if the project is not active, a limit of features would be exceeded, or strategies use
 * segments or context fields that were deleted while the features were archived.
 * @param revivals the decisions to revive features; those without events concern features that are active already
 * @param instanceFeatureLimit the maximum number of active features in all projects
 */
export const requireRevivable = async (
  tx: Pick<Transaction, 'projects' | 'projectContext'>,
  revivals: readonly Decision[],
  instanceFeatureLimit: number | undefined,
): Promise<void> => {
  const revived = revivals.filter(({ events }) => events.length > 0).map(({ feature }) => feature);
  const [first] = revived;
  if (first === undefined) return;
  const { project } = await tx.projects.newFeatureContext(first.project, first.name);
  if (project === null) throw activeProjectNotFound(first.project);
  await requireBelowLimits(tx, {
    project: first.project,
    projectFeatureLimit: project.featureLimit,
    instanceFeatureLimit,
    adding: revived.length,
  });
  const strategies = revived.flatMap(strategiesOf);
  if (strategies.length === 0) return;
  const projectContext = await tx.projectContext.ofProject(first.project, {
    texts: strategies.flatMap(({ constraints }) => constraints.map(({ contextName }) => contextName)),
    numbers: strategies.flatMap(({ segments }) => segments),
  });
  if (projectContext !== undefined) requireUsableReferences(revived, projectContext);
};
