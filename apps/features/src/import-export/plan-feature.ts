import { featureTypes, type FeatureType, isEqual, isEqualContent, maySee } from '@bunting/contracts';
import { normalizeDependency, withSortedVariants } from '../dependencies/dependency.ts';
import { replaceVariants } from '../variants/variant.ts';
import {
  type Decision,
  type Dependency,
  type Feature,
  type Strategy,
  featureEvent,
  changeMetadata,
  inEnvironment,
  withEnvironment,
} from '../features/feature.ts';
import { createFeature } from '../features/new-feature.ts';
import { setMetadata } from '../features/edit-feature.ts';
import { shortName } from '../refusals.ts';
import {
  newStrategyContent,
  publicStrategy,
  type StrategyContent,
  withStrategies,
  normalizeStrategy,
} from '../strategies/strategy.ts';
import { disableIfNoActiveStrategy } from '../strategies/edit-strategy.ts';
import type { SegmentReference, ProjectContext } from '../projects/project-context.ts';
import { fixedResourceLimits } from '../names.ts';
import { addTag } from '../tags/tag.ts';
import { addMissingLink } from '../links/link.ts';
import {
  reportMissingContextFields,
  resolveSegments,
  type ImportErrors,
  type FeatureWithSettingsInFile,
  type FileContent,
  type Located,
  type StrategyInFile,
} from './import-file.ts';
import type { ImportEventType, ImportAuthorship, ImportDestinationState } from './import-context.ts';

/** The inputs of the plan for one feature. */
export interface PlanContext extends ImportAuthorship {
  readonly destination: ImportDestinationState;
  readonly content: FileContent;
  readonly errors: ImportErrors;
  readonly segmentsByName: ReadonlyMap<string, SegmentReference>;
  /** the names of stored tag types, and of those that the import creates */
  readonly tagTypes: ReadonlySet<string>;
  /** the context of the project, with the context fields that the import creates */
  readonly projectContext: ProjectContext;
  /** ids that strategies of this import got already */
  readonly assignedIds: Set<string>;
}

export interface FeaturePlan extends Decision<ImportEventType> {
  readonly entry: FeatureWithSettingsInFile;
  readonly outcome: 'created' | 'updated' | 'unchanged';
  readonly strategies: number;
  readonly tags: number;
  readonly dependencies: number;
  readonly skipped: readonly { readonly feature: string; readonly reason: string }[];
}

/** One step of the plan, and the number of objects that it writes. */
interface Step extends Decision<ImportEventType> {
  readonly written: number;
}

function unchanged(feature: Feature): Step {
  return { feature, events: [], written: 0 };
}

function isFeatureType(type: string): type is FeatureType {
  return (featureTypes as readonly string[]).includes(type);
}

function typeOf({ value, path }: FeatureWithSettingsInFile['feature'], errors: ImportErrors): FeatureType | undefined {
  if (value.type === undefined || isFeatureType(value.type)) return value.type;
  errors.addMissing(`Feature type "${shortName(value.type)}"`, `${path}/type`, value.name);
  return undefined;
}

/** The feature with the properties of the file: a new one, or the stored one. Undefined if the feature is invalid or in another project. */
function withProperties(
  { feature: locatedFeature }: FeatureWithSettingsInFile,
  { destination, caller, now, author, errors }: PlanContext,
): Step | undefined {
  const { value, path } = locatedFeature;
  const { project, naming } = destination;
  const existing = destination.features.get(value.name);
  const type = typeOf(locatedFeature, errors);
  if (existing === undefined) {
    const body = { ...changeMetadata(value), name: value.name, type };
    const created = errors.capture(() => createFeature(body, { project, naming, now, author }, path));
    return created === undefined ? undefined : { ...created, written: 1 };
  }
  if (existing.project !== project) {
    // A refusal does not name a project that is hidden from the caller.
    const where = maySee(caller, existing.project) ? `in project "${existing.project}"` : 'already';
    errors.add(`The feature "${shortName(value.name)}" exists ${where}`, `${path}/name`);
    return undefined;
  }
  const decision = setMetadata(existing, changeMetadata({ ...value, type }, existing));
  return { ...decision, written: decision.events.length };
}

function withTags(feature: Feature, { tags }: FeatureWithSettingsInFile, { tagTypes, errors }: PlanContext): Step {
  let step = unchanged(feature);
  for (const { value, path } of tags) {
    if (!tagTypes.has(value.type))
      errors.addMissing(`Tag type "${shortName(value.type)}"`, `${path}/tagType`, feature.name);
    const { feature: after, events } = addTag(step.feature, value);
    step = { feature: after, events: [...step.events, ...events], written: step.written + events.length };
  }
  return step;
}

function isUuid(id: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
}

/** The feature with those links of the file that it lacks; others stay, as tags do. */
function withLinks(feature: Feature, { links }: FeatureWithSettingsInFile, { errors, generateId }: PlanContext): Step {
  let step = unchanged(feature);
  for (const { value, path } of links) {
    const { id: idInFile = '' } = value;
    const isFree = isUuid(idInFile) && step.feature.links.every(({ id }) => id !== idInFile);
    const id = isFree ? idInFile : generateId();
    const decision = errors.capture(() => addMissingLink(step.feature, value, { id, path }));
    if (decision === undefined) continue;
    step = { feature: decision.feature, events: [...step.events, ...decision.events], written: 0 };
  }
  return step;
}

/** A strategy of the file in its stored form, with the ids of segments in this instance; undefined when it is invalid. */
function contentOf(strategy: Located<StrategyInFile>, context: PlanContext): StrategyContent | undefined {
  const { value, path } = strategy;
  const { projectContext, errors, content, segmentsByName, destination } = context;
  const constraints = value.constraints ?? [];
  const isTypeKnown = projectContext.strategyTypes.has(value.name);
  if (!isTypeKnown) errors.addMissing(`Strategy type "${shortName(value.name)}"`, `${path}/name`, value.featureName);
  const areFieldsKnown = reportMissingContextFields(constraints, projectContext.contextFields, strategy, errors);
  const segments = resolveSegments(strategy, content.segments, segmentsByName, errors);
  if (!isTypeKnown || !areFieldsKnown) return undefined;
  // Parameters get no defaults here: a missing rollout must not become 100 percent.
  const strategyContent = newStrategyContent({ ...value, segments });
  return errors.capture(() =>
    normalizeStrategy(strategyContent, {
      project: destination.project,
      projectContext,
      path,
      weightMode: 'preserve',
    }),
  );
}

/** The id of the strategy in the file, if it is a UUID that no other strategy has; else a new id. */
function idFor(id: string | undefined, replaced: readonly Strategy[], context: PlanContext): string {
  const { assignedIds, generateId, destination } = context;
  const isFree = (candidate: string): boolean =>
    isUuid(candidate) &&
    !assignedIds.has(candidate) &&
    (!destination.takenStrategyIds.has(candidate) || replaced.some((strategy) => strategy.id === candidate));
  const assigned = id !== undefined && isFree(id) ? id : generateId();
  assignedIds.add(assigned);
  return assigned;
}

function bySortOrder({ value: one }: Located<StrategyInFile>, { value: other }: Located<StrategyInFile>): number {
  return (one.sortOrder ?? 0) - (other.sortOrder ?? 0);
}

function isStored(
  stored: Strategy,
  { name, title, disabled, constraints, parameters, variants, segments }: StrategyContent,
) {
  return isEqualContent(
    { ...stored, id: null, sortOrder: null },
    { id: null, sortOrder: null, name, title, disabled, constraints, parameters, variants, segments },
  );
}

/** The feature with the strategies of the file. If all of them have the content that is stored, the stored ones stay, with their ids. */
function withStrategiesOf(
  feature: Feature,
  { strategies: inFile }: FeatureWithSettingsInFile,
  context: PlanContext,
): Step {
  const { destination, errors } = context;
  const { environment } = destination;
  const before = inEnvironment(feature, environment).strategies;
  const maxStrategies = fixedResourceLimits.strategiesPerEnvironment;
  if (inFile.length > maxStrategies) {
    const path = inFile[maxStrategies]?.path ?? '';
    errors.add(`A feature may not have more than ${maxStrategies} strategies in an environment`, path);
  }
  const haveSortOrders = inFile.every(({ value }) => value.sortOrder !== undefined);
  const ordered = haveSortOrders ? inFile.toSorted(bySortOrder) : inFile;
  const contents = ordered.map((strategy) => contentOf(strategy, context));
  if (
    before.length === contents.length &&
    before.every((stored, index) => {
      const content = contents[index];
      return content !== undefined && isStored(stored, content);
    })
  )
    return unchanged(feature);

  const after = contents.flatMap((content, index): Strategy[] => {
    const value = ordered[index]?.value;
    if (content === undefined) return [];
    return [
      {
        ...content,
        id: idFor(value?.id, before, context),
        sortOrder: (haveSortOrders ? value?.sortOrder : index) ?? index,
      },
    ];
  });
  const changed = withStrategies(feature, environment, after);
  const events = [
    ...before.map((strategy) =>
      featureEvent('feature-strategy-remove', feature, { environment, preData: publicStrategy(strategy) }),
    ),
    ...inEnvironment(changed, environment).strategies.map((strategy) =>
      featureEvent('feature-strategy-add', feature, { environment, data: publicStrategy(strategy) }),
    ),
  ];
  return { feature: changed, events, written: after.length };
}

function withVariants(
  feature: Feature,
  { environment: environmentInFile }: FeatureWithSettingsInFile,
  { destination, errors }: PlanContext,
): Step {
  const variants = environmentInFile?.value.variants;
  if (variants === undefined) return unchanged(feature);
  const decision = errors.capture(() =>
    replaceVariants(feature, destination.environment, variants, {
      path: `${environmentInFile?.path}/variants`,
      weightMode: 'preserve',
    }),
  );
  return decision === undefined ? unchanged(feature) : { ...decision, written: 0 };
}

/** Why a feature that is enabled in the file is left off; undefined if it is not. */
function reasonToLeaveOff({ environment, strategies }: FeatureWithSettingsInFile): string | undefined {
  if (environment?.value.enabled !== true || strategies.some(({ value }) => value.disabled !== true)) return undefined;
  return strategies.length === 0
    ? 'It has no strategy in the file, and would be on for everyone: it was not enabled in the environment.'
    : 'All of its strategies in the file are disabled, and the first one to be enabled would be on at once: it was not enabled in the environment.';
}

/**
 * The feature, on or off as in the file. One without an active strategy in the file is not turned on: the file may have lost it, and the
 * direct operations turn such a feature off.
 */
function withSwitch(feature: Feature, entry: FeatureWithSettingsInFile, { destination }: PlanContext): Step {
  const { environment } = destination;
  const { environment: environmentInFile } = entry;
  if (environmentInFile === undefined) return { ...disableIfNoActiveStrategy(feature, environment), written: 0 };
  const enabled = environmentInFile.value.enabled && reasonToLeaveOff(entry) === undefined;
  if (inEnvironment(feature, environment).enabled === enabled) return unchanged(feature);
  const type = enabled ? 'feature-environment-enabled' : 'feature-environment-disabled';
  return {
    feature: withEnvironment(feature, environment, { enabled }),
    events: [featureEvent(type, feature, { environment })],
    written: 1,
  };
}

/** The feature with all parents of the file. The current dependencies stay if the file names no parent. */
function withDependencies(feature: Feature, { dependencies: dependenciesInFile }: FeatureWithSettingsInFile): Step {
  if (dependenciesInFile === undefined || dependenciesInFile.value.dependencies.length === 0) return unchanged(feature);
  const dependencies = dependenciesInFile.value.dependencies.map((parent) =>
    normalizeDependency(parent.feature, parent.enabled, parent.variants),
  );
  const isStored = (dependency: Dependency): boolean =>
    feature.dependencies.some((other) => isEqual(withSortedVariants(other), withSortedVariants(dependency)));
  const added = dependencies.filter((dependency) => !isStored(dependency));
  const removed = feature.dependencies.filter(
    (other) => !dependencies.some((dependency) => dependency.feature === other.feature),
  );
  if (added.length === 0 && removed.length === 0) return unchanged(feature);
  const events = [
    ...removed.map((parent) =>
      featureEvent('feature-dependency-removed', feature, { data: { feature: parent.feature } }),
    ),
    ...added.map((data) => featureEvent('feature-dependency-added', feature, { data })),
  ];
  return { feature: { ...feature, dependencies }, events, written: added.length };
}

function placeholder(name: string, { destination, now, author }: PlanContext): Feature {
  return {
    ...createFeature({ name: 'placeholder' }, { project: destination.project, now, author }).feature,
    name,
  };
}

/** Plans one feature, and collects its errors. */
export function planFeature(entry: FeatureWithSettingsInFile, context: PlanContext): FeaturePlan {
  const { destination } = context;
  const { name } = entry.feature.value;
  const existing = destination.features.get(name);
  const properties = withProperties(entry, context);
  // The other errors of an invalid feature are collected as well.
  const start = properties?.feature ?? placeholder(name, context);
  const hasEnvironment = entry.environment !== undefined || entry.strategies.length > 0;

  const tags = withTags(start, entry, context);
  const links = withLinks(tags.feature, entry, context);
  const strategies = hasEnvironment ? withStrategiesOf(links.feature, entry, context) : unchanged(links.feature);
  const variants = withVariants(strategies.feature, entry, context);
  const switched = hasEnvironment ? withSwitch(variants.feature, entry, context) : unchanged(variants.feature);
  const dependencies = withDependencies(switched.feature, entry);
  const events = [properties, tags, links, strategies, variants, switched, dependencies].flatMap(
    (step) => step?.events ?? [],
  );
  const leftOff = reasonToLeaveOff(entry);
  return {
    entry,
    feature: dependencies.feature,
    events,
    outcome: existing === undefined ? 'created' : events.length > 0 ? 'updated' : 'unchanged',
    strategies: strategies.written,
    tags: tags.written,
    dependencies: dependencies.written,
    skipped: leftOff === undefined ? [] : [{ feature: name, reason: leftOff }],
  };
}
