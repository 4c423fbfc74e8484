import {
  type Change,
  type ChangeOf,
  type ChangeRequestOverwrite,
  type ConflictCause,
  type FeatureAction,
  type FeatureChange,
  invalidProperty,
  isSegmentChange,
  refusal,
  type SegmentAction,
  type SegmentChange,
  segmentInUse,
  type SegmentList,
} from '@bunting/contracts';
import * as features from '../archive/archive.ts';
import * as dependencies from '../dependencies/dependency.ts';
import { removeDependencies } from '../dependencies/dependency.ts';
import { disableFeature, enableFeature } from '../feature-environments/switch-feature.ts';
import { type Dependency, type Feature, inEnvironment } from '../features/feature.ts';
import { shortName } from '../refusals.ts';
import { requireListableField } from '../segment-lists/segment-list.ts';
import * as segments from '../segments/segment.ts';
import type { StoredSegment } from '../segments/segment.ts';
import { replaceVariants } from '../variants/variant.ts';
import {
  type ActionHandler,
  type HandlerResult,
  type FeatureActionHandler,
  payloadAfterChange,
  type Phase,
  type SegmentActionHandler,
} from './action-handler.ts';
import {
  type ChangeContext,
  childrenOf,
  referrersOfSegment,
  segmentIdOfName,
  stagedListOf,
  type StateAfterChanges,
} from './change-context.ts';
import { findEditsLostByDeletion, findNewerEdits, type SnapshotComparison } from './snapshots.ts';
import {
  addedContent,
  addStrategyHandler,
  deleteStrategyHandler,
  reorderStrategyHandler,
  updateStrategyHandler,
} from './strategy-actions.ts';

/** Archives the feature in every environment, when no active feature depends on it any more. */
const archiveFeatureHandler: FeatureActionHandler<'archiveFeature'> = {
  phase: 'archive features',
  errorPath: '/feature',
  alsoReads: () => ({}),
  snapshot: () => null,
  overwrites: () => [],
  decide: (feature, _, context) => {
    const decision = features.archiveFeature(feature, childrenOf(context, feature.name), context.now);
    return { subject: decision.feature, events: decision.events, payload: {} };
  },
  conflict: ({ message }) => ({ code: 'has-children', message }),
};

/** Turns the feature on or off. Activates disabled strategies only if the change requests it and all strategies are disabled. */
const updateEnabledHandler: FeatureActionHandler<'updateEnabled'> = {
  phase: 'turn features on or off',
  errorPath: '/payload',
  alsoReads: () => ({}),
  snapshot: (feature, _, { environment }) => ({ enabled: inEnvironment(feature, environment).enabled }),
  overwrites: ({ payload }, states) => findNewerEdits(states, { enabled: payload.enabled }),
  decide: (feature, { payload: { enabled, shouldActivateDisabledStrategies } }, context) => {
    const { environment, projectContext, generateStrategyId } = context;
    const { strategies } = inEnvironment(feature, environment);
    const activateDisabled = shouldActivateDisabledStrategies === true && strategies.every(({ disabled }) => disabled);
    const activation = shouldActivateDisabledStrategies === undefined ? {} : { shouldActivateDisabledStrategies };
    const payload = { enabled, ...activation };
    if (!enabled) {
      const decision = disableFeature(feature, environment, projectContext);
      return { subject: decision.feature, events: decision.events, payload };
    }
    const options = { activateDisabled, defaultStrategyId: generateStrategyId() };
    const decision = enableFeature(feature, environment, options, projectContext);
    const { feature: subject, events, addedStrategy } = decision;
    if (addedStrategy === undefined) return { subject, events, payload };
    return { subject, events, payload, implied: { action: 'addStrategy', payload: addedContent(addedStrategy) } };
  },
  conflict: () => undefined,
};

/** Replaces all variants of the feature in the environment. */
const patchVariantHandler: FeatureActionHandler<'patchVariant'> = {
  phase: 'replace variants',
  errorPath: '/payload',
  alsoReads: () => ({}),
  snapshot: (feature, _, { environment }) => ({ variants: inEnvironment(feature, environment).variants }),
  overwrites: ({ payload }, states) => findNewerEdits(states, { variants: payload.variants }),
  decide: (feature, { payload }, { environment }, path) => {
    const decision = replaceVariants(feature, environment, payload.variants, { path: `${path}/payload/variants` });
    const { variants } = inEnvironment(decision.feature, environment);
    return { subject: decision.feature, events: decision.events, payload: { variants } };
  },
  conflict: () => undefined,
};

/** The snapshot of the dependencies of a feature; null for none. */
function dependencySnapshot({ dependencies }: Feature) {
  return dependencies.length > 0 ? { dependencies } : null;
}

const noDependencies = { dependencies: [] };

/**
 * The edits that setting the dependencies overwrites. Having none is a state, too: a dependency that was added since the snapshot is
 * overwritten.
 */
function findOverwrittenDependencies(
  { snapshot, current }: SnapshotComparison,
  dependencies: readonly Partial<Dependency>[],
): ChangeRequestOverwrite[] {
  return findNewerEdits({ snapshot: snapshot ?? noDependencies, current: current ?? noDependencies }, { dependencies });
}

/** Makes the feature depend on no other. */
const deleteDependencyHandler: FeatureActionHandler<'deleteDependency'> = {
  phase: 'remove dependencies',
  errorPath: '/feature',
  alsoReads: () => ({}),
  snapshot: dependencySnapshot,
  overwrites: (_, states) => findOverwrittenDependencies(states, []),
  decide: (feature) => {
    const decision = removeDependencies(feature);
    return { subject: decision.feature, events: decision.events, payload: {} };
  },
  conflict: () => undefined,
};

const changeableProperties: Readonly<Record<Exclude<keyof ChangeOf<'updateSegment'>['payload'], 'id'>, true>> = {
  name: true,
  description: true,
  project: true,
  constraints: true,
};

/** Changes a segment of the project or of all projects, for every feature that uses it. Omitted properties do not change. */
const updateSegmentHandler: SegmentActionHandler<'updateSegment'> = {
  phase: 'update segments',
  errorPath: '/payload/name',
  alsoReads: ({ payload: { name } }) => ({ segmentNames: name === undefined ? [] : [name] }),
  snapshot: (segment) => segments.segmentSnapshot(segment),
  overwrites: ({ payload: { id: _, ...properties } }, states) => findNewerEdits(states, properties),
  decide: (segment, { payload }, context, path) => {
    // A request is reviewed by people of one project: they do not decide which projects may use a segment.
    if (payload.project !== undefined && payload.project !== segment.project) {
      const reason =
        payload.project === null
          ? 'A change request cannot make a segment one of all projects'
          : 'A change request cannot move a segment to another project';
      throw invalidProperty(reason, `${path}/payload/project`);
    }
    const referrers = referrersOfSegment(context, segment.id);
    const idOfName = (name: string): number | undefined => segmentIdOfName(context, name);
    const { projectContext } = context;
    // Nothing is hidden: only the refusal of a move to another project names referrers, and such a move was refused above.
    const updateContext = { referrers, hidden: [], idOfName, projectContext };
    const decision = segments.updateSegment(segment, payload, updateContext, `${path}/payload`);
    const changed = payloadAfterChange(changeableProperties, payload, decision.segment);
    return {
      subject: decision.segment,
      events: decision.events,
      payload: { id: segment.id, ...changed },
    };
  },
  conflict: ({ kind, message }) => (kind === 'NameExistsError' ? { code: 'segment-name', message } : undefined),
};

/** Deletes a segment of the project or of all projects that neither a feature nor a default strategy uses any more. */
const deleteSegmentHandler: SegmentActionHandler<'deleteSegment'> = {
  phase: 'delete segments',
  errorPath: '/payload/id',
  alsoReads: () => ({}),
  snapshot: (segment) => segments.segmentSnapshot(segment),
  overwrites: (_, states) => findEditsLostByDeletion(states),
  decide: (segment, _, context) => {
    const referrers = referrersOfSegment(context, segment.id);
    // Whoever reads a request of this project need not see the others that use a segment of all projects.
    const hidden = referrers.map(({ project }) => project).filter((project) => project !== context.project);
    const deleted = segments.deleteSegment(segment, { referrers, hidden });
    return { subject: null, events: [deleted], payload: { id: segment.id } };
  },
  conflict: ({ kind }, { name }) => (kind === 'ConflictError' ? segmentInUse(shortName(name)) : undefined),
};

/** @param reviewed the list as it was when its removal was proposed; undefined in a new proposal */
function removeReviewedList(
  segment: StoredSegment,
  reviewed: SegmentList | null | undefined,
): HandlerResult<StoredSegment> {
  const { list, ...after } = segment;
  const name = shortName(segment.name);
  if (list === undefined) throw refusal('ConflictError', `Segment ${name} has no list`);
  if (reviewed !== undefined && reviewed?.version !== list.version)
    throw refusal(
      'ConflictError',
      `The list of segment ${name} has changed since its removal was proposed. Propose it again`,
    );
  const numbers = { size: 0, added: 0, removed: list.size };
  return {
    subject: after,
    events: [segments.segmentListChanged(segment, after, numbers)],
    payload: { id: segment.id, contextName: null, root: null, ...numbers, replaced: list },
  };
}

/** Puts a staged list in the place of that of a segment, as it was when the staged one was uploaded, or removes the list. */
const updateSegmentListHandler: SegmentActionHandler<'updateSegmentList'> = {
  phase: 'update segments',
  errorPath: '/payload/root',
  alsoReads: ({ payload: { root } }) => (root === null ? {} : { stagedLists: [root] }),
  snapshot: () => null,
  overwrites: () => [],
  decide: (segment, { payload }, context, path) => {
    if (payload.root === null) return removeReviewedList(segment, payload.replaced);
    const staged = stagedListOf(context, payload);
    if (staged === undefined)
      throw refusal('ConflictError', 'The uploaded list is not there any more. Upload it again');
    const { contextName, root, size, added, removed, replaced, nextVersion } = staged;
    // What was uploaded again since has other numbers than those that were reviewed.
    const reviewed = payload.replaced === undefined ? replaced : payload.replaced;
    if ([replaced, reviewed].some((one) => one?.version !== segment.list?.version))
      throw refusal(
        'ConflictError',
        `The list of segment ${shortName(segment.name)} has changed since the new one was uploaded. Upload it again`,
      );
    const field = context.projectContext.contextFields.get(contextName);
    requireListableField(contextName, field, `${path}/payload/contextName`);
    const after = { ...segment, list: { contextName, size, version: nextVersion } };
    return {
      subject: after,
      events: [segments.segmentListChanged(segment, after, { added, removed })],
      payload: { id: segment.id, contextName, root, size, added, removed, replaced },
    };
  },
  conflict: ({ kind, message }) => (kind === 'ConflictError' ? { code: 'segment-list', message } : undefined),
};

/**
 * Finds the first name that no variant of the feature has, in any environment. A feature without variants is not checked: its child may be
 * set up first.
 */
function findMissingParentVariant(parent: Feature, names: readonly string[]): string | undefined {
  const existingNames = new Set(
    Object.values(parent.environments).flatMap(({ variants, strategies }) =>
      [...variants, ...strategies.flatMap((strategy) => strategy.variants)].map(({ name }) => name),
    ),
  );
  return existingNames.size === 0 ? undefined : names.find((name) => !existingNames.has(name));
}

/** Refuses a dependency on a variant that the parent does not have: the child would never be enabled. */
function requireKnownVariants(parent: Feature, variants: readonly string[], path: string): void {
  const missing = findMissingParentVariant(parent, variants);
  if (missing === undefined) return;
  const message = `Variant ${shortName(missing)} of ${shortName(parent.name)} does not exist`;
  throw invalidProperty(message, `${path}/payload/variants/${variants.indexOf(missing)}`);
}

function dependencyContextOf(child: Feature, parent: string, context: ChangeContext) {
  return {
    parent: context.features.get(parent),
    children: childrenOf(context, child.name),
  };
}

function parentVariantConflict(parent: Feature, variants: readonly string[]): ConflictCause | undefined {
  const missing = findMissingParentVariant(parent, variants);
  if (missing === undefined) return undefined;
  const message = `Variant ${shortName(missing)} of ${shortName(parent.name)} no longer exists`;
  return { code: 'parent-variant', message };
}

/** Makes the feature depend on another, and on that one only. */
const addDependencyHandler: FeatureActionHandler<'addDependency'> = {
  phase: 'add dependencies',
  errorPath: '/payload/feature',
  alsoReads: ({ payload }) => ({ features: [payload.feature] }),
  snapshot: dependencySnapshot,
  overwrites: ({ payload }, states) => findOverwrittenDependencies(states, [payload]),
  decide: (child, { payload }, context, path) => {
    const dependency = dependencies.normalizeDependency(payload.feature, payload.enabled, payload.variants);
    const dependencyContext = dependencyContextOf(child, payload.feature, context);
    const decision = dependencies.setParent(child, dependency, dependencyContext);
    if (dependencyContext.parent !== undefined)
      requireKnownVariants(dependencyContext.parent, dependency.variants, path);
    return { subject: decision.feature, events: decision.events, payload: dependency };
  },
  conflict: (_, child, { payload }, context) => {
    const { feature, enabled, variants } = payload;
    const dependencyContext = dependencyContextOf(child, feature, context);
    const fault = dependencies.dependencyFault(child, feature, dependencyContext);
    if (fault !== undefined || dependencyContext.parent === undefined) return fault;
    return parentVariantConflict(
      dependencyContext.parent,
      dependencies.normalizeDependency(feature, enabled, variants).variants,
    );
  },
};

export const featureActionHandlers: { readonly [A in FeatureAction]: FeatureActionHandler<A> } = {
  updateEnabled: updateEnabledHandler,
  addStrategy: addStrategyHandler,
  updateStrategy: updateStrategyHandler,
  deleteStrategy: deleteStrategyHandler,
  archiveFeature: archiveFeatureHandler,
  patchVariant: patchVariantHandler,
  reorderStrategy: reorderStrategyHandler,
  addDependency: addDependencyHandler,
  deleteDependency: deleteDependencyHandler,
};

const segmentActionHandlers: { readonly [A in SegmentAction]: SegmentActionHandler<A> } = {
  updateSegment: updateSegmentHandler,
  deleteSegment: deleteSegmentHandler,
  updateSegmentList: updateSegmentListHandler,
};

export function featureHandlerOf({ action }: FeatureChange) {
  return featureActionHandlers[action] as ActionHandler<FeatureChange, Feature, Feature>;
}

export function segmentHandlerOf({ action }: SegmentChange) {
  return segmentActionHandlers[action] as ActionHandler<SegmentChange, StoredSegment, StoredSegment | null>;
}

/** The handler of any change, for those of its members that need no subject. */
export function handlerOf(change: Change) {
  return (
    isSegmentChange(change) ? segmentActionHandlers[change.action] : featureActionHandlers[change.action]
  ) as ActionHandler<Change, never, unknown>;
}

/** The changes that a phase applies, in the given order, except that children are archived before their parents. */
export function orderedChangesOfPhase<T extends { readonly change: Change }>(
  items: readonly T[],
  phase: Phase,
  { features }: StateAfterChanges,
): readonly T[] {
  const ofPhase = items.filter(({ change }) => handlerOf(change).phase === phase);
  const archivesChild = ({ change }: T): boolean =>
    change.action === 'archiveFeature' && (features.get(change.feature)?.dependencies.length ?? 0) > 0;
  return [...ofPhase.filter(archivesChild), ...ofPhase.filter((item) => !archivesChild(item))];
}
