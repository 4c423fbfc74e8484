import { notFound, refusal } from '@bunting/contracts';
import { type Decision, type Feature, featureEvent } from './feature.ts';
import { shortName } from '../refusals.ts';
import type { ProjectContext } from '../project-context.ts';

/** What a move must know of both projects. */
export interface Move {
  readonly to: string;
  /** what is around the feature where it is */
  readonly source: ProjectContext;
  /** what would be around it; nothing, where there is no such active project */
  readonly target: ProjectContext | undefined;
  /** the active features that depend on it */
  readonly children: readonly string[];
}

const environmentsOf = ({ environments }: ProjectContext): string =>
  JSON.stringify(environments.map(({ name }) => name).sort());

const usesForeignSegments = (feature: Feature, { segments }: ProjectContext, to: string): boolean =>
  Object.values(feature.environments)
    .flatMap(({ strategies }) => strategies.flatMap((strategy) => strategy.segments))
    .some((id) => ![undefined, null, to].includes(segments.get(id)?.project));

/** Moves a feature, as it is, to a project that has the same environments and may use its segments. It may have no family. */
export const moveFeature = (feature: Feature, { to, source, target, children }: Move): Decision => {
  if (target === undefined) throw notFound(`Active project with id ${shortName(to)} does not exist`);
  if (feature.project === to) return { feature, events: [] };
  if (feature.dependencies.length > 0 || children.length > 0) {
    throw refusal('ForbiddenError', 'Changing project not allowed. Feature has dependencies.');
  }
  if (environmentsOf(source) !== environmentsOf(target) || usesForeignSegments(feature, source, to)) {
    throw refusal('IncompatibleProjectError', `${shortName(to)} is not a compatible target`);
  }
  const moved = { ...feature, project: to };
  const data = { oldProject: feature.project, newProject: to };
  return { feature: moved, events: [featureEvent('feature-project-change', moved, { data })] };
};
