import { notFound, refusal } from '@bunting/contracts';
import type { Decision, Feature } from './feature.ts';
import { named } from './refusals.ts';
import type { Surroundings } from './surroundings.ts';
import { told } from './told.ts';

/** What a move must know of both projects. */
export interface Move {
  readonly to: string;
  /** what is around the feature where it is */
  readonly here: Surroundings;
  /** what would be around it; nothing, where there is no such active project */
  readonly there: Surroundings | undefined;
  /** the active features that depend on it */
  readonly children: readonly string[];
}

const environmentsOf = ({ environments }: Surroundings): string =>
  JSON.stringify(environments.map(({ name }) => name).sort());

const usesForeignSegments = (feature: Feature, { segments }: Surroundings, to: string): boolean =>
  Object.values(feature.environments)
    .flatMap(({ strategies }) => strategies.flatMap((strategy) => strategy.segments))
    .some((id) => ![undefined, null, to].includes(segments.get(id)?.project));

/** Moves a feature, as it is, to a project that has the same environments and may use its segments. It may have no family. */
export const moveFeature = (feature: Feature, { to, here, there, children }: Move): Decision => {
  if (there === undefined) throw notFound(`Active project with id ${named(to)} does not exist`);
  if (feature.project === to) return { feature, events: [] };
  if (feature.dependencies.length > 0 || children.length > 0) {
    throw refusal('ForbiddenError', 'Changing project not allowed. Feature has dependencies.');
  }
  if (environmentsOf(here) !== environmentsOf(there) || usesForeignSegments(feature, here, to)) {
    throw refusal('IncompatibleProjectError', `${named(to)} is not a compatible target`);
  }
  const moved = { ...feature, project: to };
  const data = { oldProject: feature.project, newProject: to };
  return { feature: moved, events: [told('feature-project-change', moved, { data })] };
};
