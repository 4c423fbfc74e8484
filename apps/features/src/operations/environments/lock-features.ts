import { notFound } from '@bunting/contracts';
import { noSuchFeature } from '../../domain/feature-rules.ts';
import type { Feature } from '../../domain/feature.ts';
import { named } from '../../domain/refusals.ts';
import type { Surroundings } from '../../domain/surroundings.ts';
import type { Work } from '../../persistence/unit-of-work.ts';

/** Every one of the features of a project, locked, and what is around them. One that is not there is refused. */
export const lockFeatures = async (
  { features, neighbourhood }: Pick<Work, 'features' | 'neighbourhood'>,
  project: string,
  names: readonly string[],
): Promise<{ readonly features: readonly Feature[]; readonly surroundings: Surroundings }> => {
  const found = await features.findAllForUpdate(names);
  const byName = new Map(found.map((feature) => [feature.name, feature]));
  for (const name of names) {
    const feature = byName.get(name);
    if (feature?.project !== project) throw noSuchFeature(name, project);
  }
  const surroundings = await neighbourhood.of(project);
  if (surroundings === undefined) throw notFound(`Could not find project with id ${named(project)}`);
  return { features: found, surroundings };
};
