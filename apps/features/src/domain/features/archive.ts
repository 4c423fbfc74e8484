import { refusal } from '@bunting/contracts';
import { disabledEverywhere } from '../environments/feature-environment.ts';
import { type Decision, type DomainEvent, type Feature, type Strategy, featureEvent } from './feature.ts';
import { storedFeature } from './feature-rules.ts';
import { shortName } from '../refusals.ts';
import type { ProjectContext } from '../project-context.ts';

/** The active features that depend on a feature. */
export interface Descendants {
  readonly children: readonly string[];
}

/** Archives a feature and removes its dependencies. An archived feature stays unchanged, without events. */
export const archiveFeature = (feature: Feature, { children }: Descendants, now: string): Decision => {
  if (feature.archivedAt !== null) return { feature, events: [] };
  if (children.length > 0) {
    throw refusal(
      'InvalidOperationError',
      'You can not archive/delete this feature since other features depend on it.',
    );
  }
  const events: DomainEvent[] = [];
  if (feature.dependencies.length > 0) events.push(featureEvent('feature-dependencies-removed', feature));
  events.push(featureEvent('feature-archived', feature));
  const lifecycle = [...feature.lifecycle, { stage: 'archived', enteredStageAt: now } as const];
  return { feature: { ...feature, archivedAt: now, dependencies: [], lifecycle }, events };
};

/** Archives features together: parents go with their children, and not without them. */
export const archiveFeatures = (
  features: readonly Feature[],
  children: ReadonlyMap<string, readonly string[]>,
  now: string,
): readonly Decision[] => {
  const together = new Set(features.map(({ name }) => name));
  const orphans = features
    .filter(({ archivedAt }) => archivedAt === null)
    .flatMap(({ name }) => children.get(name) ?? [])
    .filter((child) => !together.has(child));
  if (orphans.length > 0) {
    const [which, them] = together.size === 1 ? ['this feature', 'it'] : ['those features', 'them'];
    throw refusal(
      'InvalidOperationError',
      `You can not archive/delete ${which} since other features depend on ${them}.`,
    );
  }
  return features.map((feature) => archiveFeature(feature, { children: [] }, now));
};

/** Restores an archived feature: disabled in every environment and in the lifecycle stage `initial`. */
export const reviveFeature = (feature: Feature, now: string): Decision => {
  if (feature.archivedAt === null) return { feature, events: [] };
  const revived: Feature = {
    ...disabledEverywhere(feature),
    archivedAt: null,
    lifecycle: [{ stage: 'initial', enteredStageAt: now }],
  };
  return { feature: revived, events: [featureEvent('feature-revived', revived)] };
};

/** The strategies of a feature, of all its environments. */
export const strategiesOf = ({ environments }: Feature): readonly Strategy[] =>
  Object.values(environments).flatMap(({ strategies }) => strategies);

/** Refuses features that use a segment or a context field that does not exist, or a segment that their project may not use. */
export const requireUsableReferences = (
  features: readonly Feature[],
  { segments, contextFields }: Pick<ProjectContext, 'segments' | 'contextFields'>,
): void => {
  for (const feature of features) {
    const isUsable = (id: number): boolean => {
      const segment = segments.get(id);
      return segment !== undefined && (segment.project === null || segment.project === feature.project);
    };
    const gone = strategiesOf(feature).flatMap((strategy) => [
      ...strategy.segments.filter((id) => !isUsable(id)).map((id) => `segment ${id}`),
      ...strategy.constraints
        .filter(({ contextName }) => !contextFields.has(contextName))
        .map(({ contextName }) => `context field ${shortName(contextName)}`),
    ]);
    if (gone.length === 0) continue;
    const what = [...new Set(gone)].slice(0, 10).join(', ');
    throw refusal('ConflictError', `Feature ${feature.name} uses what is no longer there for it: ${what}`);
  }
};

/** The events of deleting a feature: none unless it is archived. */
export const deleteFeature = (feature: Feature): Decision => ({
  feature,
  events:
    feature.archivedAt === null ? [] : [featureEvent('feature-deleted', feature, { preData: storedFeature(feature) })],
});
