import { notFound } from '@bunting/contracts';
import { noSuchFeature } from '../../domain/feature-rules.ts';
import type { Feature } from '../../domain/feature.ts';
import { named } from '../../domain/refusals.ts';
import type { Surroundings } from '../../domain/surroundings.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Locks features of a project and reads their surroundings. Refuses names that the project does not have. */
export const lockFeatures = async (
  { features, surroundings: repository }: Pick<Transaction, 'features' | 'surroundings'>,
  project: string,
  names: readonly string[],
): Promise<{ readonly features: readonly Feature[]; readonly surroundings: Surroundings }> => {
  const found = await features.findAllForUpdate(names);
  const byName = new Map(found.map((feature) => [feature.name, feature]));
  for (const name of names) {
    const feature = byName.get(name);
    if (feature?.project !== project) throw noSuchFeature(name, project);
  }
  const surroundings = await repository.ofProject(project);
  if (surroundings === undefined) throw notFound(`Could not find project with id ${named(project)}`);
  return { features: found, surroundings };
};
