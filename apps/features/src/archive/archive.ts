import { refusal } from '@bunting/contracts';
import {
  type Decision,
  disabledEverywhere,
  type DomainEvent,
  type Feature,
  featureEvent,
  featureWithoutEnvironments,
} from '../features/feature.ts';
import type { ProjectContext } from '../projects/project-context.ts';
import { shortName } from '../refusals.ts';

/** Refuses to archive features on which others depend. @param archived the number of the features */
function requireNoChildren(archived: number, children: readonly string[]): void {
  if (children.length === 0) return;
  const [which, them] = archived === 1 ? ['this feature', 'it'] : ['those features', 'them'];
  throw refusal('InvalidOperationError', `You can not archive/delete ${which} since other features depend on ${them}.`);
}

/**
 * Archives a feature and removes its dependencies. An archived feature stays unchanged, without events.
 * @param children the active features that depend on it
 */
export function archiveFeature(feature: Feature, children: readonly string[], now: string): Decision {
  if (feature.archivedAt !== null) return { feature, events: [] };
  requireNoChildren(1, children);
  const events: DomainEvent[] = [];
  if (feature.dependencies.length > 0) events.push(featureEvent('feature-dependencies-removed', feature));
  events.push(featureEvent('feature-archived', feature));
  const lifecycle = [...feature.lifecycle, { stage: 'archived', enteredStageAt: now } as const];
  return { feature: { ...feature, archivedAt: now, dependencies: [], lifecycle }, events };
}

/** Refuses to archive or delete active features without their children. */
export function requireChildrenAmong(
  features: readonly Feature[],
  children: ReadonlyMap<string, readonly string[]>,
): void {
  const names = new Set(features.map(({ name }) => name));
  const orphans = features
    .filter(({ archivedAt }) => archivedAt === null)
    .flatMap(({ name }) => children.get(name) ?? [])
    .filter((child) => !names.has(child));
  requireNoChildren(names.size, orphans);
}

/** Archives features. A parent can be archived only if all of its children are archived with it. */
export function archiveFeatures(
  features: readonly Feature[],
  children: ReadonlyMap<string, readonly string[]>,
  now: string,
): readonly Decision[] {
  requireChildrenAmong(features, children);
  return features.map((feature) => archiveFeature(feature, [], now));
}

/** Restores an archived feature: disabled in every environment and in the lifecycle stage `initial`. */
export function reviveFeature(feature: Feature, now: string): Decision {
  if (feature.archivedAt === null) return { feature, events: [] };
  const revived: Feature = {
    ...disabledEverywhere(feature),
    archivedAt: null,
    lifecycle: [{ stage: 'initial', enteredStageAt: now }],
  };
  return { feature: revived, events: [featureEvent('feature-revived', revived)] };
}

/** Refuses features that use a segment or a context field that does not exist, or a segment that their project may not use. */
export function requireUsableReferences(
  features: readonly Feature[],
  { segments, contextFields }: Pick<ProjectContext, 'segments' | 'contextFields'>,
): void {
  for (const feature of features) {
    const isUsable = (id: number): boolean => {
      const segment = segments.get(id);
      return segment !== undefined && (segment.project === null || segment.project === feature.project);
    };
    const unusable = Object.entries(feature.environments).flatMap(([environment, { strategies }]) =>
      strategies.flatMap((strategy) =>
        [
          ...strategy.segments
            .filter((id) => !isUsable(id))
            .map((id) => ['segment', shortName(segments.get(id)?.name ?? ''), id].filter(Boolean).join(' ')),
          ...strategy.constraints
            .filter(({ contextName }) => !contextFields.has(contextName))
            .map(({ contextName }) => `context field ${shortName(contextName)}`),
        ].map((object) => `${object} (strategy ${strategy.id} in ${environment})`),
      ),
    );
    if (unusable.length === 0) continue;
    const objects = [...new Set(unusable)].slice(0, 10).join(', ');
    throw refusal(
      'ConflictError',
      `Feature ${feature.name} uses objects that no longer exist, or that its project may not use: ${objects}. Take them out of the strategy, which can be edited while the feature is archived, or create the context field again.`,
    );
  }
}

export interface DeletionDecision {
  readonly features: readonly Feature[];
  readonly events: readonly DomainEvent[];
}

/** Deletes those of the features that are archived. The others stay. */
export function deleteIfArchived(features: readonly Feature[]): DeletionDecision {
  const archived = features.filter(({ archivedAt }) => archivedAt !== null);
  const events = archived.map((feature) =>
    featureEvent('feature-deleted', feature, { preData: featureWithoutEnvironments(feature) }),
  );
  return { features: archived, events };
}
