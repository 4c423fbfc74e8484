import { type FeatureChange, isEqual } from '@bunting/contracts';
import type { Feature, Strategy } from '../features/feature.ts';
import { withoutProtectedParts } from '../projects/protected-edit.ts';
import { inEnvironment } from '../features/feature-in-environment.ts';
import type { ImportEvent } from './import-permissions.ts';
import type { ImportPlan, PlannedFeature } from './plan-import.ts';
import type { PartsRequiringChangeRequest } from './parts-requiring-change-request.ts';

/** The part of an import that is applied directly, and the part that is proposed in a change request. */
export interface SplitImport {
  readonly immediate: readonly PlannedFeature[];
  readonly changes: readonly FeatureChange[];
  /** the parts that are neither applied nor proposed */
  readonly skipped: readonly { readonly feature: string; readonly reason: string }[];
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

const notEnabled =
  'All of its strategies are disabled in the file, and enabling it would add one for everyone: that is not proposed.';

/** The changes that bring a feature in the environment from its current settings to those of the file. */
const settingsChanges = (before: Feature, after: Feature, environment: string) => {
  const [was, is] = [inEnvironment(before, environment), inEnvironment(after, environment)];
  const { name: feature } = after;
  const changes: FeatureChange[] = [];
  if (!isEqual(was.strategies, is.strategies)) {
    for (const { id } of was.strategies) changes.push({ action: 'deleteStrategy', feature, payload: { id } });
    for (const strategy of is.strategies) changes.push(addStrategyChange(feature, strategy));
  }
  if (!isEqual(was.variants, is.variants)) {
    changes.push({ action: 'patchVariant', feature, payload: { variants: [...is.variants] } });
  }
  const staysDisabled = is.enabled && !was.enabled && is.strategies.every(({ disabled }) => disabled);
  if (was.enabled !== is.enabled && !staysDisabled) {
    changes.push({ action: 'updateEnabled', feature, payload: { enabled: is.enabled } });
  }
  return { changes, skipped: staysDisabled ? [{ feature, reason: notEnabled }] : [] };
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
  const skipped: { feature: string; reason: string }[] = [];
  for (const plan of planned) {
    const { feature: after, events, isNew } = plan;
    const before = existing.get(after.name) ?? withoutProtectedParts(after);
    const keepsSettings = settings && !isEqual(inEnvironment(before, environment), inEnvironment(after, environment));
    const keepsDependencies = dependencies && !isEqual(before.dependencies, after.dependencies);
    if (!keepsSettings && !keepsDependencies) {
      immediate.push(plan);
      continue;
    }
    if (keepsSettings) {
      const proposed = settingsChanges(before, after, environment);
      changes.push(...proposed.changes);
      skipped.push(...proposed.skipped);
    }
    if (keepsDependencies) changes.push(...dependencyChanges(after));
    const feature: Feature = {
      ...after,
      environments: keepsSettings ? before.environments : after.environments,
      dependencies: keepsDependencies ? before.dependencies : after.dependencies,
    };
    const kept = events.filter(
      (event) =>
        !(keepsSettings && event.environment === environment) && !(keepsDependencies && isDependencyEvent(event)),
    );
    if (isNew || kept.length > 0) immediate.push({ feature, events: kept, isNew });
  }
  return { immediate, changes, skipped };
};

/** The events of an import of which only some edits are made now and the others are proposed. */
export const immediateEvents = (
  { features, events }: ImportPlan,
  immediate: readonly PlannedFeature[],
): readonly ImportEvent[] => {
  const planned = new Set(features.flatMap((plan) => plan.events));
  const emitted = new Set(immediate.flatMap((plan) => plan.events));
  return events.filter((event) => !planned.has(event) || emitted.has(event));
};
