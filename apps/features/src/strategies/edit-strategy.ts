import {
  FeatureStrategy,
  invalidProperty,
  isEqual,
  isEqualContent,
  type JsonPatch,
  limitExceeded,
  type StrategyPosition,
  type StrategyProperties,
  type UpdateStrategyBody,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import {
  type Decision,
  type Feature,
  featureEvent,
  inEnvironment,
  type Strategy,
  withEnvironment,
} from '../features/feature.ts';
import { applyPatch, type PatchableMembers } from '../features/json-patch.ts';
import { fixedResourceLimits, maxSortOrder } from '../names.ts';
import { hasEnvironment, type ProjectContext } from '../projects/project-context.ts';
import { featureWithoutEnvironment } from '../refusals.ts';
import {
  keepRollout,
  newStrategyContent,
  normalizeStrategy,
  publicStrategy,
  replaceStrategy,
  type StrategyContent,
  strategyOf,
  type StrategyRef,
  type StrategyValidationOptions,
  updatedParameters,
  withDefaultParameters,
  withStrategies,
} from './strategy.ts';

/** Turns off a feature that is enabled without an active strategy, because SDKs evaluate such a feature as on for all users. */
export function disableIfNoActiveStrategy(
  feature: Feature,
  environment: string,
): Decision<'feature-environment-disabled'> {
  const { enabled, strategies } = inEnvironment(feature, environment);
  if (!enabled || strategies.some(({ disabled }) => !disabled)) return { feature, events: [] };
  return {
    feature: withEnvironment(feature, environment, { enabled: false }),
    events: [featureEvent('feature-environment-disabled', feature, { environment })],
  };
}

/** What new content of a strategy is validated against, and the JSON pointer of the strategy in the request. */
type EditValidation = Pick<StrategyValidationOptions, 'projectContext' | 'path'>;

/** Replaces the content of a strategy; its id and sort order stay. Emits nothing when the content is the same. */
export function replaceStrategyContent(
  feature: Feature,
  ref: StrategyRef,
  newContent: StrategyContent,
  validation: EditValidation,
): Decision {
  const before = strategyOf(feature, ref);
  const content = normalizeStrategy(newContent, { ...validation, project: feature.project, before });
  const after: Strategy = { ...content, id: before.id, sortOrder: before.sortOrder };
  if (isEqualContent(after, before)) return { feature, events: [] };
  const preData = publicStrategy(before);
  const data = publicStrategy(after);
  return {
    feature: replaceStrategy(feature, ref.environment, after),
    events: [featureEvent('feature-strategy-update', feature, { environment: ref.environment, preData, data })],
  };
}

/** Replaces the content of a strategy, and turns the feature off if that leaves it without an active strategy. */
function replaceStrategyContentAndDisableIfInactive(
  feature: Feature,
  ref: StrategyRef,
  newContent: StrategyContent,
  validation: EditValidation,
): Decision {
  const decision = replaceStrategyContent(feature, ref, newContent, validation);
  if (decision.feature === feature) return decision;
  const { feature: after, events } = disableIfNoActiveStrategy(decision.feature, ref.environment);
  return { feature: after, events: [...decision.events, ...events] };
}

const patchable: PatchableMembers = {
  members: new Set(Object.keys(FeatureStrategy.properties)),
  maps: new Set(['parameters']),
};

/** The title after a patch, which takes it away with a step of its own, or with null. A new document that leaves it out keeps it. */
function patchedTitle(patched: string | null | undefined, before: string | null, patch: JsonPatch): string | null {
  if (patched !== undefined) return patched;
  return patch.some(({ path, from }) => path === '/title' || from === '/title') ? null : before;
}

/**
 * Patches one strategy. A patch cannot change its id, environment and sort order. It can remove the title, constraints and variants; other
 * properties that it removes do not change. The feature is turned off if no active strategy remains.
 */
export function patchStrategy(
  feature: Feature,
  ref: StrategyRef,
  patch: JsonPatch,
  projectContext: ProjectContext,
): Decision {
  const before = strategyOf(feature, ref);
  // Unlike bodies, a patch has values of the declared types only, as in Unleash.
  const document = parse(FeatureStrategy, applyPatch(publicStrategy(before), patch, patchable));
  const newContent: StrategyContent = {
    name: document.name,
    title: patchedTitle(document.title, before.title, patch),
    disabled: document.disabled ?? before.disabled,
    constraints: document.constraints ?? [],
    parameters: keepRollout(
      before,
      { name: document.name, parameters: document.parameters ?? before.parameters },
      feature,
      projectContext,
    ),
    variants: document.variants ?? [],
    segments: document.segments ?? before.segments,
  };
  return replaceStrategyContentAndDisableIfInactive(feature, ref, newContent, { projectContext, path: '' });
}

/** Whether a feature has as many strategies in an environment as the limit allows. */
export function hasMaxStrategies(feature: Feature, environment: string): boolean {
  return inEnvironment(feature, environment).strategies.length >= fixedResourceLimits.strategiesPerEnvironment;
}

/** Where a new strategy is added, and its id. */
export interface NewStrategy {
  readonly environment: string;
  readonly strategyId: string;
  readonly projectContext: ProjectContext;
  /** the JSON pointer of the strategy in the request */
  readonly path: string;
}

/**
 * Adds a strategy to a feature in an environment of its project, after the existing ones unless it has a sort order. The feature is not
 * enabled.
 */
export function addStrategy(
  feature: Feature,
  create: StrategyProperties,
  { environment, strategyId, projectContext, path }: NewStrategy,
): Decision {
  if (!hasEnvironment(projectContext, environment)) {
    throw invalidProperty('You have not added the current environment to the project', '/params/environment');
  }
  const { strategies } = inEnvironment(feature, environment);
  if (hasMaxStrategies(feature, environment))
    throw limitExceeded('strategy', fixedResourceLimits.strategiesPerEnvironment, path);
  const content = newStrategyContent(create);
  const parameters = withDefaultParameters(content, feature, projectContext);
  const { sortOrder } = create;
  const strategy: Strategy = {
    ...normalizeStrategy({ ...content, parameters }, { project: feature.project, projectContext, path }),
    id: strategyId,
    sortOrder: sortOrder ?? Math.min(Math.max(-1, ...strategies.map((other) => other.sortOrder)) + 1, maxSortOrder),
  };
  return {
    feature: withStrategies(feature, environment, [...strategies, strategy]),
    events: [featureEvent('feature-strategy-add', feature, { environment, data: publicStrategy(strategy) })],
  };
}

/** Removes a strategy from a feature, which stays on even without an active strategy. */
export function removeStrategyKeepingEnabled(feature: Feature, ref: StrategyRef): Decision {
  const strategy = strategyOf(feature, ref);
  const { strategies } = inEnvironment(feature, ref.environment);
  return {
    feature: withEnvironment(feature, ref.environment, {
      strategies: strategies.filter((other) => other !== strategy),
    }),
    events: [
      featureEvent('feature-strategy-remove', feature, {
        environment: ref.environment,
        preData: publicStrategy(strategy),
      }),
    ],
  };
}

/** Removes a strategy from a feature. Without another active strategy the feature is disabled, and that event comes first. */
export function removeStrategy(feature: Feature, ref: StrategyRef): Decision {
  const removal = removeStrategyKeepingEnabled(feature, ref);
  const { feature: after, events } = disableIfNoActiveStrategy(removal.feature, ref.environment);
  return { feature: after, events: [...events, ...removal.events] };
}

/**
 * Replaces the constraints and variants of a strategy, also with none where the update leaves them out, and the other properties that the
 * update has. Id, environment and sort order do not change. The feature is turned off if no active strategy remains.
 */
export function updateStrategy(
  feature: Feature,
  ref: StrategyRef,
  update: UpdateStrategyBody,
  projectContext: ProjectContext,
): Decision {
  const before = strategyOf(feature, ref);
  const name = update.name ?? before.name;
  const content: StrategyContent = {
    name,
    title: update.title ?? before.title,
    disabled: update.disabled ?? before.disabled,
    constraints: update.constraints ?? [],
    parameters: updatedParameters(before, { name, parameters: update.parameters }, feature, projectContext),
    variants: update.variants ?? [],
    segments: update.segments ?? before.segments,
  };
  return replaceStrategyContentAndDisableIfInactive(feature, ref, content, { projectContext, path: '/body' });
}

function idsOf(strategies: readonly Strategy[]): readonly string[] {
  return strategies.map(({ id }) => id);
}

interface ReorderOptions {
  readonly projectContext: ProjectContext;
  /** the JSON pointer of the positions in the request */
  readonly path: string;
}

/** Sets the sort order of strategies; the order of strategies that the payload does not name is unchanged. */
export function reorderStrategies(
  feature: Feature,
  environment: string,
  positions: readonly StrategyPosition[],
  { projectContext, path: basePath }: ReorderOptions,
): Decision {
  if (!hasEnvironment(projectContext, environment)) throw featureWithoutEnvironment(feature.name, environment);
  const before = inEnvironment(feature, environment).strategies;
  const sortOrders = new Map<string, number>();
  for (const [index, { id, sortOrder }] of positions.entries()) {
    const path = `${basePath}/${index}/id`;
    if (!before.some((strategy) => strategy.id === id)) {
      throw invalidProperty('trying to change strategies for environment via update sortOrder', path);
    }
    if (sortOrders.has(id)) throw invalidProperty('a strategy has one sort order only', path);
    sortOrders.set(id, sortOrder);
  }
  const moved = before.map((strategy) => ({
    ...strategy,
    sortOrder: sortOrders.get(strategy.id) ?? strategy.sortOrder,
  }));
  if (isEqual(moved, before)) return { feature, events: [] };
  const after = withStrategies(feature, environment, moved);
  const event = featureEvent('strategy-order-changed', feature, {
    environment,
    preData: { strategyIds: idsOf(before) },
    data: { strategyIds: idsOf(inEnvironment(after, environment).strategies) },
  });
  return { feature: after, events: [event] };
}
