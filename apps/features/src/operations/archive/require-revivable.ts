import { notFound } from '@bunting/contracts';
import type { Decision } from '../../domain/feature.ts';
import { named } from '../../domain/refusals.ts';
import type { Work } from '../../persistence/unit-of-work.ts';
import { requireBelowLimits } from '../features/require-below-limits.ts';

/** Refuses to revive features in a project that is not active, or that has no room for so many more. */
export const requireRoomForRevived = async (
  tx: Pick<Work, 'projects'>,
  decisions: readonly Decision[],
  limit: number | undefined,
): Promise<void> => {
  const revived = decisions.filter(({ events }) => events.length > 0).map(({ feature }) => feature);
  const [first] = revived;
  if (first === undefined) return;
  const { project } = await tx.projects.newFeatureContext(first.project, first.name);
  if (project === null) throw notFound(`Active project with id ${named(first.project)} does not exist`);
  await requireBelowLimits(tx, {
    project: first.project,
    featureLimit: project.featureLimit,
    limit,
    adding: revived.length,
  });
};
