import { isEqual, refusal } from '@bunting/contracts';
import { type Decision, type Feature, featureEvent, strategiesOf } from './feature.ts';
import { activeProjectNotFound, shortName } from '../refusals.ts';
import type { ProjectContext } from '../projects/project-context.ts';

/** The facts about both projects that decide whether a feature can be moved. */
export interface MoveContext {
  /** the id of the target project */
  readonly to: string;
  /** the context of the current project */
  readonly source: ProjectContext;
  /** the context of the target project; undefined when it does not exist or is archived */
  readonly target: ProjectContext | undefined;
  /** the active features that depend on the feature */
  readonly children: readonly string[];
}

const environmentNames = ({ environments }: ProjectContext): readonly string[] =>
  environments.map(({ name }) => name).sort();

const usesForeignSegments = (feature: Feature, { segments }: ProjectContext, to: string): boolean =>
  strategiesOf(feature)
    .flatMap((strategy) => strategy.segments)
    .some((id) => ![undefined, null, to].includes(segments.get(id)?.project));

/**
 * Moves an unchanged feature to a project with the same environments and access to its segments. The feature must have no dependencies and
 * no children.
 */
export const moveFeature = (feature: Feature, { to, source, target, children }: MoveContext): Decision => {
  if (target === undefined) throw activeProjectNotFound(to);
  if (feature.project === to) return { feature, events: [] };
  if (feature.dependencies.length > 0 || children.length > 0) {
    throw refusal('ForbiddenError', 'Changing project not allowed. Feature has dependencies.');
  }
  if (!isEqual(environmentNames(source), environmentNames(target)) || usesForeignSegments(feature, source, to)) {
    throw refusal('IncompatibleProjectError', `${shortName(to)} is not a compatible target`);
  }
  const moved = { ...feature, project: to };
  const data = { oldProject: feature.project, newProject: to };
  return { feature: moved, events: [featureEvent('feature-project-change', moved, { data })] };
};

/** The number of features that a move adds to those that count towards the limit of the target: an archived feature does not count. */
export const featuresAddedByMove = (before: Feature, after: Feature): number =>
  after.project !== before.project && after.archivedAt === null ? 1 : 0;
