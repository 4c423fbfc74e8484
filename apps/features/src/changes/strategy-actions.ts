import { type ChangeOf, type ConflictCause, invalid, type StrategyPosition } from '@bunting/contracts';
import { type Feature, inEnvironment, type PublicStrategy, type Strategy } from '../features/feature.ts';
import { shortName } from '../refusals.ts';
import {
  addStrategy,
  hasMaxStrategies,
  removeStrategyKeepingEnabled,
  reorderStrategies,
  replaceStrategyContent,
} from '../strategies/edit-strategy.ts';
import { publicStrategy, type StrategyContent, strategyOf, updatedParameters } from '../strategies/strategy.ts';
import {
  type FeatureActionHandler,
  payloadAfterChange,
  segmentDeletedCause,
  segmentOfAnotherProjectCause,
  strategyDeletedCause,
} from './action-handler.ts';
import type { ChangeContext } from './change-context.ts';
import { findEditsLostByDeletion, findNewerEdits } from './snapshots.ts';

/** The snapshot of a strategy in a change. Segments are sorted, so that another order is not taken for an edit later. */
function strategySnapshot(strategy: Strategy): PublicStrategy {
  return {
    ...publicStrategy(strategy),
    segments: strategy.segments.toSorted((one, other) => one - other),
  };
}

/** The content of an added strategy, without its id and sort order. */
export function addedContent(strategy: Strategy) {
  const { id: _, sortOrder: __, ...content } = publicStrategy(strategy);
  return content;
}

/** Whether a feature has all of these strategies in the environment. */
function hasStrategies(feature: Feature, environment: string, ids: readonly string[]): boolean {
  const { strategies } = inEnvironment(feature, environment);
  return ids.every((id) => strategies.some((strategy) => strategy.id === id));
}

/** The conflict of a strategy whose segments or type changed since it was proposed. */
function contentConflict(
  { name, segments = [] }: ChangeOf<'addStrategy' | 'updateStrategy'>['payload'],
  { projectContext, project }: ChangeContext,
): ConflictCause | undefined {
  for (const id of segments) {
    const segment = projectContext.segments.get(id);
    if (segment === undefined) return segmentDeletedCause(id);
    if (segment.project !== null && segment.project !== project)
      return segmentOfAnotherProjectCause(segment.name, project);
  }
  if (name === undefined || projectContext.strategyTypes.has(name)) return undefined;
  return { code: 'strategy-type-gone', message: `Strategy type ${shortName(name)} no longer exists` };
}

/** Adds a strategy, after the existing ones unless the change has a sort order. */
export const addStrategyHandler: FeatureActionHandler<'addStrategy'> = {
  phase: 'change strategies',
  errorPath: '/payload',
  alsoReads: () => ({}),
  snapshot: () => null,
  overwrites: () => [],
  decide: (feature, { payload }, { environment, projectContext, generateStrategyId }, path) => {
    const strategyId = generateStrategyId();
    const decision = addStrategy(feature, payload, {
      environment,
      strategyId,
      projectContext,
      path: `${path}/payload`,
    });
    const content = addedContent(strategyOf(decision.feature, { environment, strategyId }));
    const order = payload.sortOrder === undefined ? {} : { sortOrder: payload.sortOrder };
    return { subject: decision.feature, events: decision.events, payload: { ...content, ...order } };
  },
  conflict: ({ kind }, feature, { payload }, context) =>
    kind === 'ExceedsLimitError' && hasMaxStrategies(feature, context.environment)
      ? { code: 'strategy-limit', message: 'Strategy limit reached' }
      : contentConflict(payload, context),
};

const changeableProperties: Readonly<
  Record<Exclude<keyof ChangeOf<'updateStrategy'>['payload'], 'id' | 'sortOrder'>, true>
> = {
  name: true,
  title: true,
  disabled: true,
  constraints: true,
  parameters: true,
  variants: true,
  segments: true,
};

/** The properties that a payload sets: null counts as left out, as in the direct operation. */
function setProperties({ id: _, ...payload }: ChangeOf<'updateStrategy'>['payload']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== null));
}

function pickParameters(parameters: Readonly<Record<string, string>>, names: readonly string[]) {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => names.includes(name)));
}

/**
 * Changes a strategy. Omitted properties and parameters do not change, nor do those that are null: a constraint that is lost silently would enable the feature for more users. Whether
 * the feature stays enabled is decided after all changes.
 */
export const updateStrategyHandler: FeatureActionHandler<'updateStrategy'> = {
  phase: 'change strategies',
  errorPath: '/payload/id',
  alsoReads: () => ({}),
  snapshot: (feature, { payload }, { environment }) =>
    strategySnapshot(strategyOf(feature, { environment, strategyId: payload.id })),
  overwrites: ({ payload }, states) => findNewerEdits(states, setProperties(payload)),
  decide: (feature, { payload }, { environment, projectContext }, path) => {
    const ref = { environment, strategyId: payload.id };
    const before = strategyOf(feature, ref);
    const name = payload.name ?? before.name;
    if (name !== before.name && payload.parameters === undefined) {
      const parametersPath = `${path}/payload/parameters`;
      throw invalid(
        `The \`${parametersPath}\` property is required when the name of a strategy changes.`,
        parametersPath,
      );
    }
    const content: StrategyContent = {
      name,
      title: payload.title ?? before.title,
      disabled: payload.disabled ?? before.disabled,
      constraints: payload.constraints ?? before.constraints,
      parameters: updatedParameters(before, { name, parameters: payload.parameters }, feature, projectContext),
      variants: payload.variants ?? before.variants,
      segments: payload.segments ?? before.segments,
    };
    const decision = replaceStrategyContent(feature, ref, content, { projectContext, path: `${path}/payload` });
    const after = strategyOf(decision.feature, ref);
    const changed = payloadAfterChange(changeableProperties, setProperties(payload), {
      ...after,
      // What is not proposed is not stored with the proposal: an edit of it until then stays when the change is applied.
      parameters:
        name === before.name
          ? pickParameters(after.parameters, Object.keys(payload.parameters ?? {}))
          : after.parameters,
    });
    return { subject: decision.feature, events: decision.events, payload: { id: before.id, ...changed } };
  },
  conflict: (_, feature, { payload }, context) =>
    hasStrategies(feature, context.environment, [payload.id])
      ? contentConflict(payload, context)
      : strategyDeletedCause,
};

/** Removes a strategy. A strategy that was removed before is no conflict. */
export const deleteStrategyHandler: FeatureActionHandler<'deleteStrategy'> = {
  phase: 'change strategies',
  errorPath: '/payload/id',
  alsoReads: () => ({}),
  snapshot: (feature, { payload }, { environment }) =>
    strategySnapshot(strategyOf(feature, { environment, strategyId: payload.id })),
  overwrites: (_, states) => findEditsLostByDeletion(states),
  decide: (feature, { payload: { id } }, { environment }) => {
    const payload = { id };
    const exists = inEnvironment(feature, environment).strategies.some((strategy) => strategy.id === id);
    if (!exists) return { subject: feature, events: [], payload };
    const decision = removeStrategyKeepingEnabled(feature, { environment, strategyId: id });
    return { subject: decision.feature, events: decision.events, payload };
  },
  conflict: () => undefined,
};

/**
 * The sort orders of a snapshot as one property, so that they are compared together; null without a snapshot.
 * @param moved new sort orders, by id of the strategy
 */
function sortOrdersOf(positions: unknown, moved: ReadonlyMap<string, number> = new Map()) {
  return Array.isArray(positions)
    ? { sortOrder: positions.map(({ id, sortOrder }: StrategyPosition) => [id, moved.get(id) ?? sortOrder]) }
    : null;
}

/** Puts strategies into another order. */
export const reorderStrategyHandler: FeatureActionHandler<'reorderStrategy'> = {
  phase: 'reorder strategies',
  errorPath: '/payload',
  alsoReads: () => ({}),
  snapshot: (feature, _, { environment }) =>
    inEnvironment(feature, environment).strategies.map(({ id, sortOrder }) => ({ id, sortOrder })),
  overwrites: ({ payload }, { snapshot, current }) =>
    findNewerEdits(
      { snapshot: sortOrdersOf(snapshot), current: sortOrdersOf(current) },
      sortOrdersOf(current, new Map(payload.map(({ id, sortOrder }) => [id, sortOrder]))) ?? {},
    ),
  decide: (feature, { payload }, { environment, projectContext }, path) => {
    const decision = reorderStrategies(feature, environment, payload, { projectContext, path: `${path}/payload` });
    return {
      subject: decision.feature,
      events: decision.events,
      payload: payload.map(({ id, sortOrder }) => ({ id, sortOrder })),
    };
  },
  conflict: (_, feature, { payload }, { environment }) => {
    const ids = payload.map(({ id }) => id);
    return hasStrategies(feature, environment, ids) ? undefined : strategyDeletedCause;
  },
};
