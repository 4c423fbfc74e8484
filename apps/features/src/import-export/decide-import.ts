import {
  type Caller,
  type FeatureChange,
  type ImportFeaturesBody,
  type ImportReport,
  isEqual,
  maxBytesPerChangeRequest,
  maxChangesPerChangeRequest,
  type Refusal,
  refusal,
  requireMayPropose,
} from '@bunting/contracts';
import { environmentsRequiringChangeRequest, withoutProtectedParts } from '../changes/protected-edit.ts';
import { type Feature, inEnvironment, type Strategy } from '../features/feature.ts';
import {
  type ImportAuthorship,
  type ImportDestinationState,
  type ImportEvent,
  missingImportPermissions,
  type MissingPermission,
} from './import-context.ts';
import { type ImportPlan, planImport, type PlannedFeature } from './plan-import.ts';

/** The part of an import that is applied directly, and the part that is proposed in a change request. */
export interface SplitImport {
  readonly immediate: readonly PlannedFeature[];
  readonly changes: readonly FeatureChange[];
}

function withoutIdentity({ id: _, ...content }: Strategy) {
  return content;
}

/** A missing rollout means 0 percent in an import, but 100 percent in a proposed change, so it is written out. */
function explicitRollout({ name, parameters }: Strategy) {
  return name === 'flexibleRollout' ? { rollout: '0', ...parameters } : parameters;
}

function addStrategyChange(feature: string, strategy: Strategy): FeatureChange {
  const { constraints, variants, segments, ...content } = withoutIdentity(strategy);
  const lists = { constraints: [...constraints], variants: [...variants], segments: [...segments] };
  return {
    action: 'addStrategy',
    feature,
    payload: { ...content, ...lists, parameters: explicitRollout(strategy) },
  };
}

/** The changes that bring a feature in the environment from its current settings to those of the file. */
function settingsChanges(before: Feature, after: Feature, environment: string): readonly FeatureChange[] {
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
}

function dependencyChanges({ name: feature, dependencies }: Feature): FeatureChange[] {
  return dependencies.map(({ feature: parent, enabled, variants }) => ({
    action: 'addDependency',
    feature,
    payload: { feature: parent, enabled, variants: [...variants] },
  }));
}

function isDependencyEvent({ type }: ImportEvent): boolean {
  return type.startsWith('feature-dependency-');
}

/**
 * Splits an import into direct changes and proposed changes. Features are created, described and tagged directly;
 * their settings in protected environments are proposed.
 * @param existing the stored features, by name
 */
export function splitImport(
  planned: readonly PlannedFeature[],
  existing: ReadonlyMap<string, Feature>,
  { environment, settings, dependencies }: PartsRequiringChangeRequest,
): SplitImport {
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
}

/** The events of those edits of an import that are made directly. @param immediate the features with these edits alone */
function immediateEvents(
  { features, events }: ImportPlan,
  immediate: readonly PlannedFeature[],
): readonly ImportEvent[] {
  const planned = new Set(features.flatMap((plan) => plan.events));
  const emitted = new Set(immediate.flatMap((plan) => plan.events));
  return events.filter((event) => !planned.has(event) || emitted.has(event));
}

/** The parts of an import that require a change request, and the environment for which it is created. */
export interface PartsRequiringChangeRequest {
  readonly environment: string;
  /** whether the features' switches, strategies and variants in the environment are protected */
  readonly settings: boolean;
  /** whether dependencies of features are protected; they are the same in every environment */
  readonly dependencies: boolean;
  /** the environment for which the change request is created; undefined if none is needed */
  readonly proposedIn: string | undefined;
}

/** The parts of an import that require a change request of the caller, and the environment for which it is created. */
export function partsRequiringChangeRequest(
  caller: Caller,
  { project, environment }: { readonly project: string; readonly environment: string },
  protectedEnvironments: readonly string[],
): PartsRequiringChangeRequest {
  const environments = environmentsRequiringChangeRequest(caller, project, protectedEnvironments);
  const settings = environments.includes(environment);
  return {
    environment,
    settings,
    dependencies: environments.length > 0,
    proposedIn: settings ? environment : environments.at(-1),
  };
}

/** The stored objects that an import refers to. */
export interface StoredForImport {
  readonly destination: Omit<ImportDestinationState, 'project' | 'environment' | 'features'>;
  /** the features that the file names, and the parents of their dependencies, in any project */
  readonly features: readonly Feature[];
  /** the protected environments of the project */
  readonly protectedEnvironments: readonly string[];
}

/** The edits of an import that require a change request. */
export interface ProposedEdits {
  readonly environment: string;
  readonly changes: readonly FeatureChange[];
}

/** What an import stores directly, what it proposes, and the permissions that the caller lacks for the former. */
export interface ImportDecision extends Pick<ImportPlan, 'contextFields' | 'tagTypes' | 'tags'> {
  readonly added: readonly Feature[];
  readonly changed: readonly Feature[];
  readonly events: readonly ImportEvent[];
  /** undefined if nothing requires a change request */
  readonly proposed: ProposedEdits | undefined;
  readonly missingPermissions: readonly MissingPermission[];
  readonly report: ImportReport;
}

/** Decides on an import. Limits of features and of change requests are checked separately. @throws Refusal as `planImport`. */
export function decideImport(
  { project, environment, data }: ImportFeaturesBody,
  { destination, features, protectedEnvironments }: StoredForImport,
  authorship: ImportAuthorship,
): ImportDecision {
  const { caller } = authorship;
  const existing = new Map(features.map((feature) => [feature.name, feature]));
  const plan = planImport(data, { ...destination, project, environment, features: existing }, authorship);
  const protection = partsRequiringChangeRequest(caller, { project, environment }, protectedEnvironments);
  const { immediate, changes } = splitImport(plan.features, existing, protection);
  const events = immediateEvents(plan, immediate);
  const { proposedIn } = protection;
  return {
    contextFields: plan.contextFields,
    tagTypes: plan.tagTypes,
    tags: plan.tags,
    added: immediate.filter(({ isNew }) => isNew).map(({ feature }) => feature),
    changed: immediate.filter(({ isNew }) => !isNew).map(({ feature }) => feature),
    events,
    proposed: proposedIn === undefined || changes.length === 0 ? undefined : { environment: proposedIn, changes },
    missingPermissions: missingImportPermissions(caller, events),
    report: plan.report,
  };
}

function tooLargeForChangeRequest(reason: string): Refusal {
  const message = `The import takes a change request of ${reason}. Import fewer features.`;
  return refusal('ExceedsLimitError', message, { details: [{ message, path: '/body/data/features' }] });
}

/** Refuses changes that exceed a change request, or that the caller may not propose. */
export function requireProposable(caller: Caller, project: string, changes: readonly FeatureChange[]): void {
  requireMayPropose(caller, project);
  if (changes.length > maxChangesPerChangeRequest) {
    throw tooLargeForChangeRequest(`${changes.length} changes, and one can hold at most ${maxChangesPerChangeRequest}`);
  }
}

/** Refuses a proposal that is too large, with the snapshots of its changes. */
export function requireProposalSize(bytes: number): void {
  if (bytes > maxBytesPerChangeRequest)
    throw tooLargeForChangeRequest(`more than ${maxBytesPerChangeRequest} bytes, with what it would replace`);
}
