import {
  asJsonObject,
  type Change,
  type CreateSegmentBody,
  type Dependency,
  type Event,
  type EventType,
  type EventUndo,
  type Feature,
  type FeatureChange,
  type FeatureStrategy,
  type FeatureVariant,
  fieldChanges,
  isEqual,
  type Json,
  newFeatureMetadata,
  redactedText,
  type Segment,
  threeWayMerge,
  type UndoableType,
  type UndoRefusal,
  type UndoStep,
} from '@bunting/contracts';

/** The current state of what an event changed. */
export interface CurrentState {
  /** the flag with its variants in each environment; undefined if it is archived or not in the project of the event */
  readonly feature: Feature | undefined;
  readonly isArchived: boolean;
  readonly segments: readonly Segment[];
  /** for an event that removed a dependency: that dependency, as an earlier event had added it */
  readonly earlierDependency: Dependency | undefined;
  /** whether a later event set the same property: undoing this event would undo that one, too */
  readonly isSetAgain: boolean;
}

/** Groups of event types that set the same property of a flag. */
const eventGroups: readonly (readonly EventType[])[] = [
  ['feature-environment-enabled', 'feature-environment-disabled'],
  ['feature-tagged', 'feature-untagged'],
  ['feature-stale-on', 'feature-stale-off', 'feature-metadata-updated'],
  ['feature-created', 'feature-archived', 'feature-revived'],
  ['feature-dependency-added', 'feature-dependency-removed', 'feature-dependencies-removed'],
  ['feature-project-change'],
];

/**
 * The types of events that set the same property as an event of the given type. Empty for updates of fields: whether a later event set them
 * again is seen by their values.
 */
export const eventGroupOf = (type: EventType): readonly EventType[] =>
  type === 'feature-metadata-updated' ? [] : (eventGroups.find((group) => group.includes(type)) ?? []);

/** Whether two events of a group set the same property, such as the same tag or `stale`. */
export const setsSameProperty = (event: Event, other: Event): boolean => {
  if (other.type === 'feature-metadata-updated') return staleIn(other.preData) !== staleIn(other.data);
  return isEqual(tagOfEvent(event) ?? null, tagOfEvent(other) ?? null);
};

type Tag = { readonly type: string; readonly value: string };

type PlannedStep<S = UndoStep> = S extends UndoStep ? Omit<S, 'ifMatch'> : never;

/** What undoes an event, without the entity tags that its steps need. */
export type UndoPlan = Omit<EventUndo, 'steps'> & { readonly steps: readonly PlannedStep[] };

type Members = Readonly<Record<string, Json>>;
type Rule = (event: Event, state: CurrentState) => UndoPlan;

const nothing = { steps: [], changes: [], conflicts: [] };
const nothingToUndo: UndoPlan = { ...nothing, state: 'done' };
const refused = (reason: UndoRefusal): UndoPlan => ({ ...nothing, state: 'refused', reason });
const changedAgain = (conflicts: UndoPlan['conflicts']): UndoPlan => ({ ...nothing, state: 'changed', conflicts });
const possible = (steps: readonly PlannedStep[], changes: UndoPlan['changes'] = []): UndoPlan => {
  return { ...nothing, state: 'possible', steps, changes };
};
const byChange = (change: Change, environment: string | null, changes?: UndoPlan['changes']): UndoPlan =>
  possible([{ kind: 'change', environment, change }], changes);
const byRequest = (
  operationId: string,
  params: Readonly<Record<string, string>>,
  body: unknown,
  changes?: UndoPlan['changes'],
): UndoPlan => possible([{ kind: 'request', operationId, params: { ...params }, body }], changes);
const paramsOf = ({ name, project = '' }: Feature) => ({ projectId: project, featureName: name });

const recordOrEmpty = (value: unknown): Members => asJsonObject(value) as Members;
const textIn = (value: unknown, name: string): string | undefined => {
  const member = recordOrEmpty(value)[name];
  return typeof member === 'string' ? member : undefined;
};
const hasMembers = (value: unknown): boolean => Object.keys(recordOrEmpty(value)).length > 0;

/** The fields of a strategy that a change sets, without its id and its position. */
const strategyFields = (strategy: unknown): Members => {
  const members = recordOrEmpty(strategy);
  return {
    name: members['name'] ?? '',
    title: members['title'] ?? null,
    disabled: members['disabled'] ?? false,
    parameters: members['parameters'] ?? {},
    constraints: members['constraints'] ?? [],
    segments: members['segments'] ?? [],
    variants: members['variants'] ?? [],
  };
};

const flagFields = (feature: unknown): Members => {
  const members = recordOrEmpty(feature);
  return Object.fromEntries(
    Object.entries(newFeatureMetadata).map(([field, initial]) => [field, members[field] ?? initial]),
  );
};

const segmentFields = (segment: unknown): Json => {
  const members = recordOrEmpty(segment);
  return {
    name: members['name'] ?? '',
    description: members['description'] ?? null,
    project: members['project'] ?? null,
    constraints: members['constraints'] ?? [],
  };
};

/** The fields in which the current value differs from the one that an event left. */
const conflictsBetween = (left: Json, now: Json): EventUndo['conflicts'] =>
  fieldChanges(left, now).map(({ path, before, after }) => ({ path, left: before, now: after }));

/**
 * Reverts a change by field: a field that only the event changed gets its earlier value, a field that only changed since keeps its value.
 * A field that did both is a conflict.
 */
const revertByField = (before: Json, left: Json, now: Json) => {
  const { merged, conflicts } = threeWayMerge(left, before, now);
  return {
    merged: merged ?? null,
    changes: fieldChanges(now, merged),
    conflicts: conflicts.map(({ path, base, theirs }) => ({ path, left: base, now: theirs })),
  };
};

const withFlag =
  (rule: (event: Event, feature: Feature) => UndoPlan): Rule =>
  (event, { feature, isArchived }) =>
    feature === undefined ? refused(isArchived ? 'flagArchived' : 'flagGone') : rule(event, feature);

type Environment = NonNullable<Feature['environments']>[number];

const withEnvironment = (rule: (event: Event, environment: Environment, feature: string) => UndoPlan): Rule =>
  withFlag((event, { name, environments = [] }) => {
    const environment = environments.find(({ name: environmentName }) => environmentName === event.environment);
    return environment === undefined ? refused('environmentGone') : rule(event, environment, name);
  });

const disable = withEnvironment((_event, { name, enabled }, feature) => {
  if (!enabled) return nothingToUndo;
  const change: FeatureChange = { action: 'updateEnabled', feature, payload: { enabled: false } };
  return byChange(change, name);
});

const enable = withEnvironment((_event, { name, enabled, strategies = [] }, feature) => {
  if (enabled) return nothingToUndo;
  if (!strategies.some(({ disabled }) => disabled !== true)) return refused('noStrategy');
  const change: FeatureChange = { action: 'updateEnabled', feature, payload: { enabled: true } };
  return byChange(change, name);
});

const removeStrategy = withEnvironment(({ data }, { name, strategies = [] }, feature) => {
  const id = textIn(data, 'id');
  if (id === undefined) return refused('unknownBefore');
  const current = strategies.find((strategy) => strategy.id === id);
  if (current === undefined) return nothingToUndo;
  const conflicts = conflictsBetween(strategyFields(data), strategyFields(current));
  if (conflicts.length > 0) return changedAgain(conflicts);
  const change: FeatureChange = { action: 'deleteStrategy', feature, payload: { id } };
  return byChange(change, name, fieldChanges(strategyFields(current), undefined));
});

const restoreStrategy = withEnvironment(({ preData }, { name, strategies = [] }, feature) => {
  if (!hasMembers(preData)) return refused('unknownBefore');
  const fields = strategyFields(preData);
  // A strategy that is added again gets another id.
  const exists = strategies.some(
    (strategy) => strategy.id === textIn(preData, 'id') || isEqual(strategyFields(strategy), fields),
  );
  if (exists) return nothingToUndo;
  const { sortOrder } = recordOrEmpty(preData);
  const payload = { ...fields, ...(typeof sortOrder === 'number' ? { sortOrder } : {}) };
  const change = { action: 'addStrategy', feature, payload } as FeatureChange;
  return byChange(change, name, fieldChanges(undefined, fields));
});

/**
 * The payload that gives a strategy exactly this content. An update keeps what it leaves out and what is null, so a title and parameters that
 * are to go are empty texts.
 */
const strategyUpdateOf = ({ title, parameters, ...content }: Members, stored: FeatureStrategy) => {
  const gone = stored.name === content['name'] ? Object.keys(stored.parameters ?? {}) : [];
  const emptied = Object.fromEntries(gone.map((name) => [name, '']));
  return { ...content, title: title ?? '', parameters: { ...emptied, ...recordOrEmpty(parameters) } };
};

const revertStrategy = withEnvironment(({ preData, data }, { name, strategies = [] }, feature) => {
  const id = textIn(data, 'id');
  if (id === undefined || !hasMembers(preData)) return refused('unknownBefore');
  const current = strategies.find((strategy: FeatureStrategy) => strategy.id === id);
  if (current === undefined) return refused('strategyGone');
  const { merged, conflicts, changes } = revertByField(
    strategyFields(preData),
    strategyFields(data),
    strategyFields(current),
  );
  if (conflicts.length > 0) return changedAgain(conflicts);
  if (changes.length === 0) return nothingToUndo;
  const payload = { ...strategyUpdateOf(recordOrEmpty(merged), current), id };
  const change = { action: 'updateStrategy', feature, payload } as FeatureChange;
  return byChange(change, name, changes);
});

const idsIn = (value: unknown): readonly string[] => {
  const ids = recordOrEmpty(value)['strategyIds'];
  return Array.isArray(ids) ? (ids as Json[]).filter((id): id is string => typeof id === 'string') : [];
};

const revertOrder = withEnvironment(({ preData, data }, { name, strategies = [] }, feature) => {
  const [before, left] = [idsIn(preData), idsIn(data)];
  if (before.length === 0) return refused('unknownBefore');
  const current = strategies.map(({ id }) => id ?? '');
  if (isEqual(current, before)) return nothingToUndo;
  if (!isEqual(current, left)) return refused('strategiesDiffer');
  const payload = before.map((id, sortOrder) => ({ id, sortOrder }));
  const change: FeatureChange = { action: 'reorderStrategy', feature, payload };
  return byChange(change, name);
});

const variantsIn = (value: unknown): Json => recordOrEmpty(value)['variants'] ?? [];

/** Reverts the variants in one environment; in all environments, if the event names none. */
const revertVariants = withFlag(({ preData, data, environment }, { name: feature, environments = [] }) => {
  const affectedEnvironments = environments.filter(({ name }) => environment == null || name === environment);
  if (affectedEnvironments.length === 0) return refused('environmentGone');
  if (!hasMembers(preData)) return refused('unknownBefore');
  const reverts = affectedEnvironments.map(({ name, variants = [] }) => ({
    name,
    ...revertByField(
      { variants: variantsIn(preData) },
      { variants: variantsIn(data) },
      { variants: variants as Json[] },
    ),
  }));
  const conflicts = reverts.flatMap((revert) => revert.conflicts);
  if (conflicts.length > 0) return changedAgain(conflicts);
  const changed = reverts.filter(({ changes }) => changes.length > 0);
  if (changed.length === 0) return nothingToUndo;
  return possible(
    changed.map(({ name, merged }) => ({
      kind: 'change',
      environment: name,
      change: {
        action: 'patchVariant',
        feature,
        payload: { variants: variantsIn(merged) as FeatureVariant[] },
      },
    })),
    changed.flatMap(({ name, changes }) => changes.map((change) => ({ ...change, path: [name, ...change.path] }))),
  );
});

const staleIn = (value: unknown): boolean => recordOrEmpty(value)['stale'] === true;

const tagIn = (value: unknown): Tag | undefined => {
  const [type, name] = [textIn(value, 'type'), textIn(value, 'value')];
  return type === undefined || name === undefined ? undefined : { type, value: name };
};

const tagOfEvent = ({ type, data, preData }: Event): Tag | undefined =>
  type === 'feature-tagged' || type === 'feature-untagged' ? (tagIn(data) ?? tagIn(preData)) : undefined;

const setTag = (isAdded: boolean): Rule =>
  withFlag(({ data, preData }, feature) => {
    const tag = tagIn(isAdded ? (preData ?? data) : (data ?? preData));
    if (tag === undefined) return refused('unknownBefore');
    const exists = (feature.tags ?? []).some(({ type, value }) => type === tag.type && value === tag.value);
    if (exists === isAdded) return nothingToUndo;
    return byRequest(
      'updateTags',
      { featureName: feature.name },
      { addedTags: isAdded ? [tag] : [], removedTags: isAdded ? [] : [tag] },
    );
  });

const revertDetails = withFlag(({ preData, data }, feature) => {
  if (!hasMembers(preData) || !hasMembers(data)) return refused('unknownBefore');
  const [before, left] = [flagFields(preData), flagFields(data)];
  // The event changed only fields that are not in `newFeatureMetadata`, as those of a newer server.
  if (isEqual(before, left) && !isEqual(recordOrEmpty(preData), recordOrEmpty(data))) return refused('unsupported');
  const { merged, conflicts, changes } = revertByField(before, left, flagFields(feature));
  if (conflicts.length > 0) return changedAgain(conflicts);
  if (changes.length === 0) return nothingToUndo;
  const body = Object.fromEntries(changes.map(({ path: [field = ''] }) => [field, recordOrEmpty(merged)[field]]));
  return byRequest('updateFeature', paramsOf(feature), body, changes);
});

const setStale = (stale: boolean): Rule =>
  withFlag((_event, feature) =>
    (feature.stale ?? false) === stale
      ? nothingToUndo
      : byRequest('staleFeatures', { projectId: feature.project ?? '' }, { features: [feature.name], stale }),
  );

const revive: Rule = ({ project, featureName }, { feature, isArchived }) => {
  if (feature !== undefined) return nothingToUndo;
  if (!isArchived) return refused('flagDeleted');
  return byRequest('reviveFeature', { projectId: project ?? '', featureName: featureName ?? '' }, null);
};

const archive: Rule = (_event, { feature, isArchived }) => {
  if (isArchived) return nothingToUndo;
  if (feature === undefined) return refused('flagGone');
  if (feature.environments?.some(({ enabled }) => enabled) === true) return refused('flagOn');
  return byChange({ action: 'archiveFeature', feature: feature.name }, null);
};

/** The fields of a dependency, with the defaults of those that it does not have. */
const dependencyFields = (dependency: unknown): Members => {
  const { feature = '', enabled = true, variants = [] } = recordOrEmpty(dependency);
  return { feature, enabled, variants };
};

const removeDependency = withFlag(({ data }, { name, dependencies = [] }) => {
  const [current] = dependencies;
  if (current === undefined) return nothingToUndo;
  const conflicts = conflictsBetween(dependencyFields(data), dependencyFields(current));
  if (conflicts.length > 0) return refused('dependencyChanged');
  return byChange({ action: 'deleteDependency', feature: name }, null);
});

const restoreDependency: Rule = (event, state) =>
  withFlag(({ data }, { name, dependencies = [] }) => {
    const { earlierDependency } = state;
    const parent = textIn(data, 'feature') ?? earlierDependency?.feature;
    if (parent === undefined) return refused('dependencyUnknown');
    if (dependencies.length > 0)
      return dependencies[0]?.feature === parent ? nothingToUndo : refused('dependencyChanged');
    if (earlierDependency?.feature !== parent) return refused('dependencyUnknown');
    const { feature, enabled, variants } = earlierDependency;
    const payload = {
      feature,
      ...(enabled === undefined ? {} : { enabled }),
      ...(variants === undefined ? {} : { variants: [...variants] }),
    };
    return byChange({ action: 'addDependency', feature: name, payload }, null);
  })(event, state);

const moveBack: Rule = ({ data }, { feature, isArchived }) => {
  const project = textIn(data, 'oldProject');
  if (feature === undefined) return refused(isArchived ? 'flagArchived' : 'moved');
  return project === undefined
    ? refused('unknownBefore')
    : byRequest('changeProject', paramsOf(feature), { newProjectId: project });
};

const segmentOf = (value: unknown, segments: readonly Segment[]): Segment | undefined =>
  segments.find(({ id }) => id === recordOrEmpty(value)['id']);

const removeSegment: Rule = ({ data }, { segments }) => {
  const current = segmentOf(data, segments);
  if (current === undefined) return nothingToUndo;
  // Ids that were uploaded since are not in the event, and nothing would bring them back.
  const conflicts = conflictsBetween(
    { ...recordOrEmpty(segmentFields(data)), list: null },
    { ...recordOrEmpty(segmentFields(current)), list: current.list ?? null },
  );
  if (conflicts.length > 0) return changedAgain(conflicts);
  const { id } = current;
  return byChange({ action: 'deleteSegment', payload: { id } }, null, fieldChanges(segmentFields(current), undefined));
};

const restoreSegment: Rule = ({ preData }, { segments }) => {
  if (!hasMembers(preData)) return refused('unknownBefore');
  if (segmentOf(preData, segments) !== undefined) return nothingToUndo;
  // Without the ids it would match everybody.
  if (recordOrEmpty(preData)['list'] !== undefined) return refused('segmentHadList');
  const fields = segmentFields(preData);
  const namesake = segments.find(({ name }) => name === textIn(fields, 'name'));
  if (namesake !== undefined)
    return isEqual(segmentFields(namesake), fields) ? nothingToUndo : refused('segmentExists');
  return byRequest('createSegment', {}, fields, fieldChanges(undefined, fields));
};

const revertSegment: Rule = ({ preData, data }, { segments }) => {
  if (!hasMembers(preData)) return refused('unknownBefore');
  const current = segmentOf(data, segments);
  if (current === undefined) return refused('segmentGone');
  // The event has numbers of ids, and no id.
  if (recordOrEmpty(data)['listChange'] !== undefined) return refused('segmentListChanged');
  const { merged, conflicts, changes } = revertByField(
    segmentFields(preData),
    segmentFields(data),
    segmentFields(current),
  );
  if (conflicts.length > 0) return changedAgain(conflicts);
  if (changes.length === 0) return nothingToUndo;
  return byChange(
    { action: 'updateSegment', payload: { id: current.id, ...(merged as CreateSegmentBody) } },
    null,
    changes,
  );
};

const rules: Readonly<Record<UndoableType, Rule>> = {
  'feature-environment-enabled': disable,
  'feature-environment-disabled': enable,
  'feature-strategy-add': removeStrategy,
  'feature-strategy-remove': restoreStrategy,
  'feature-strategy-update': revertStrategy,
  'strategy-order-changed': revertOrder,
  'feature-environment-variants-updated': revertVariants,
  'feature-variants-updated': revertVariants,
  'feature-tagged': setTag(false),
  'feature-untagged': setTag(true),
  'feature-metadata-updated': revertDetails,
  'feature-stale-on': setStale(false),
  'feature-stale-off': setStale(true),
  'feature-created': archive,
  'feature-archived': revive,
  'feature-revived': archive,
  'feature-dependency-added': removeDependency,
  'feature-dependency-removed': restoreDependency,
  'feature-dependencies-removed': restoreDependency,
  'feature-project-change': moveBack,
  'segment-created': removeSegment,
  'segment-updated': revertSegment,
  'segment-deleted': restoreSegment,
};

/**
 * The steps that undo an event in the current state. A field that changed again since is a conflict and is never overwritten; other later
 * changes stay.
 */
export const undoEvent = (event: Event, state: CurrentState): UndoPlan => {
  const plan = (rules as Partial<Record<EventType, Rule>>)[event.type]?.(event, state) ?? refused('unsupported');
  if (plan.state !== 'possible') return plan;
  if (state.isSetAgain) return refused('setAgain');
  // The event log has replaced secrets by the marker `redactedText`: undoing the event would store the marker.
  return JSON.stringify(plan.steps).includes(redactedText) ? refused('redacted') : plan;
};
