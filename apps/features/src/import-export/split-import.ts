import { type FeatureChange, isEqual } from '@bunting/contracts';
import type { Feature, Strategy } from '../features/feature.ts';
import { withoutProtectedParts } from '../changes/protected-edit.ts';
import { inEnvironment } from '../features/feature-in-environment.ts';
import type { ImportEvent } from './import-permissions.ts';
import type { ImportPlan, PlannedFeature } from './plan-import.ts';
import type { PartsRequiringChangeRequest } from './parts-requiring-change-request.ts';

/** The part of an import that is applied directly, and the part that is proposed in a change request. */
export interface SplitImport {
  readonly immediate: readonly PlannedFeature[];
  readonly changes: readonly FeatureChange[];
}

const withoutIdentity = ({ id: _, ...content }: Strategy) => content;

/** A missing rollout means 0 percent in an import, but 100 percent in a proposed change, so it is written out. */
const explicitRollout = ({ name, parameters }: Strategy) =>
  name === 'flexibleRollout' ? { rollout: '0', ...parameters } : parameters;

const addStrategyChange = (feature: string, strategy: Strategy): FeatureChange => {
  const { constraints, variants, segments, ...content } = withoutIdentity(strategy);
  const lists = { constraints: [...constraints], variants: [...variants], segments: [...segments] };
  return {
    action: 'addStrategy',
    feature,
    payload: { ...content, ...lists, parameters: explicitRollout(strategy) },
  };
};

/** The changes that bring a feature in the environment from its current settings to those of the file. */
const settingsChanges = (before: Feature, after: Feature, environment: string): readonly FeatureChange[] => {
  const [current, imported] = [inEnvironment(before, environment), inEnvironment(after, environment)];
  const { name: feature } = after;
  const changes: FeatureChange[] = [];
  if (!isEqual(current.strategies, imported.strategies)) {
    for (const { id } of current.strategies) changes.push({ action: 'deleteStrategy', feature, payload: { id } });
    for (const strategy of imported.strategies) changes.push(addStrategyChange(feature, strategy));
  }
  if (!isEqual(current.variants, imported.variants)) {
    changes.push({ action: 'patchVariant', feature, payload: { variants: [...imported.variants] } });
  }
  if (current.enabled !== imported.enabled) {
    changes.push({ action: 'updateEnabled', feature, payload: { enabled: imported.enabled } });
  }
  return changes;
};

const dependencyChanges = ({ name: feature, dependencies }: Feature): FeatureChange[] =>
  dependencies.map(({ feature: parent, enabled, variants }) => ({
    action: 'addDependency',
    feature,
    payload: { feature: parent, enabled, variants: [...variants] },
  }));

const isDependencyEvent = ({ type }: ImportEvent): boolean => type.startsWith('feature-dependency-');

/**
 * Splits an import into direct changes and proposed changes. Features are created, described and tagged directly;
 * their settings in protected environments are proposed.
 * @param existing the stored features, by name
 */
export const splitImport = (
  planned: readonly PlannedFeature[],
  existing: ReadonlyMap<string, Feature>,
  { environment, settings, dependencies }: PartsRequiringChangeRequest,
): SplitImport => {
  const immediate: PlannedFeature[] = [];
  const changes: FeatureChange[] = [];
  for (const plan of planned) {
    const { feature: after, events, isNew } = plan;
    const before = existing.get(after.name) ?? withoutProtectedParts(after);
    const proposesSettings =
      settings && !isEqual(inEnvironment(before, environment), inEnvironment(after, environment));
    const proposesDependencies = dependencies && !isEqual(before.dependencies, after.dependencies);
    if (!proposesSettings && !proposesDependencies) {
      immediate.push(plan);
      continue;
    }
    if (proposesSettings) changes.push(...settingsChanges(before, after, environment));
    if (proposesDependencies) changes.push(...dependencyChanges(after));
    const feature: Feature = {
      ...after,
      environments: proposesSettings ? before.environments : after.environments,
      dependencies: proposesDependencies ? before.dependencies : after.dependencies,
    };
    const directEvents = events.filter(
      (event) =>
        !(proposesSettings && event.environment === environment) && !(proposesDependencies && isDependencyEvent(event)),
    );
    if (isNew || directEvents.length > 0) immediate.push({ feature, events: directEvents, isNew });
  }
  return { immediate, changes };
};

/** The events of those edits of an import that are made directly. @param immediate the features with these edits alone */
export const immediateEvents = (
  { features, events }: ImportPlan,
  immediate: readonly PlannedFeature[],
): readonly ImportEvent[] => {
  const planned = new Set(features.flatMap((plan) => plan.events));
  const emitted = new Set(immediate.flatMap((plan) => plan.events));
  return events.filter((event) => !planned.has(event) || emitted.has(event));
};
