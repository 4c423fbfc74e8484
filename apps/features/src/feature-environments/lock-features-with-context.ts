import { projectNotFound } from '@bunting/contracts';
import type { Feature } from '../features/feature.ts';
import { featureNotInProject } from '../refusals.ts';
import type { ProjectContext } from '../projects/project-context.ts';
import { noReferences } from '../projects/project-context-reader.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';

/**
 * Locks features of a project, and reads the project context without referenced objects. Refuses names of features that the project does
 * not have.
 */
export const lockFeaturesWithContext = async (
  { features, projectContext: repository }: Pick<Transaction, 'features' | 'projectContext'>,
  project: string,
  names: readonly string[],
): Promise<{ readonly features: readonly Feature[]; readonly projectContext: ProjectContext }> => {
  const lockedFeatures = await features.findAllForUpdate(names);
  const byName = new Map(lockedFeatures.map((feature) => [feature.name, feature]));
  for (const name of names) {
    const feature = byName.get(name);
    if (feature?.project !== project) throw featureNotInProject(name, project);
  }
  const projectContext = await repository.ofProject(project, noReferences);
  if (projectContext === undefined) throw projectNotFound(project);
  return { features: lockedFeatures, projectContext };
};
