import type { Change, ChangeAction } from './change.ts';

/** What an action affects: the environment of its change request, or every environment of the project. */
const reachOfAction: Readonly<Record<ChangeAction, 'environment' | 'project'>> = {
  updateSegment: 'project',
  deleteSegment: 'project',
  updateEnabled: 'environment',
  addStrategy: 'environment',
  updateStrategy: 'environment',
  deleteStrategy: 'environment',
  archiveFeature: 'project',
  patchVariant: 'environment',
  reorderStrategy: 'environment',
  addDependency: 'project',
  deleteDependency: 'project',
};

/** The actions that affect every environment of the project. */
export const actionsOfWholeProject = (Object.keys(reachOfAction) as ChangeAction[]).filter(
  (action) => reachOfAction[action] === 'project',
);

/**
 * The environments in which changes of a request need approvals: those among the protected environments of its project that they affect. The
 * actions alone decide, so that neither a conflict nor its end changes who has to agree.
 * @param environment the environment of the request
 */
export const affectedEnvironments = (
  changes: readonly Pick<Change, 'action'>[],
  environment: string,
  protectedEnvironments: readonly string[],
): string[] => {
  const affectsAll = changes.some(({ action }) => reachOfAction[action] === 'project');
  return protectedEnvironments.filter((name) => affectsAll || (changes.length > 0 && name === environment));
};
