import {
  type Change,
  type CheckedChange,
  type FeatureAction,
  type FeatureChange,
  isSegmentChange,
  notFound,
  Refusal,
  refusal,
  type SegmentAction,
  type SegmentChange,
} from '@bunting/contracts';
import type { Feature } from '../features/feature.ts';
import { featureNotFound } from '../features/feature-rules.ts';
import { environmentNotFound, invalidProperty } from '../refusals.ts';
import type { StoredSegment } from '../constraints/segment.ts';
import { hasEnvironment, type SegmentReference } from '../project-context.ts';
import { addDependency } from './actions/add-dependency.ts';
import { addStrategy } from './actions/add-strategy.ts';
import { archiveFeature } from './actions/archive-feature.ts';
import { deleteDependency } from './actions/delete-dependency.ts';
import { deleteSegment } from './actions/delete-segment.ts';
import { deleteStrategy } from './actions/delete-strategy.ts';
import { patchVariant } from './actions/patch-variant.ts';
import { reorderStrategy } from './actions/reorder-strategy.ts';
import type { FeatureRule, Phase, Rule, SegmentRule, ChangeContext } from './rule.ts';
import { updateEnabled } from './actions/update-enabled.ts';
import { updateSegment } from './actions/update-segment.ts';
import { updateStrategy } from './actions/update-strategy.ts';

export type { FeatureReference, ChangeContext } from './rule.ts';

/** The rule of each action on a feature. */
export const featureRules: { readonly [A in FeatureAction]: FeatureRule<A> } = {
  updateEnabled,
  addStrategy,
  updateStrategy,
  deleteStrategy,
  archiveFeature,
  patchVariant,
  reorderStrategy,
  addDependency,
  deleteDependency,
};

/** The rule of each action on a segment. */
const segmentRules: { readonly [A in SegmentAction]: SegmentRule<A> } = { updateSegment, deleteSegment };

export const featureRuleOf = ({ action }: FeatureChange) =>
  featureRules[action] as Rule<FeatureChange, Feature, Feature>;

export const segmentRuleOf = ({ action }: SegmentChange) =>
  segmentRules[action] as Rule<SegmentChange, StoredSegment, StoredSegment | null>;

export const phaseOf = (change: Change): Phase =>
  isSegmentChange(change) ? segmentRuleOf(change).phase : featureRuleOf(change).phase;

export const phases: readonly Phase[] = [1, 2, 3, 4, 5, 6, 7, 8];

/** The state after some of the changes. */
export interface ChangeState extends ChangeContext {
  readonly features: Map<string, Feature>;
  readonly segments: Map<number, StoredSegment>;
  readonly references: Map<number, SegmentReference>;
}

export const initialState = (context: ChangeContext): ChangeState => {
  const references = new Map(context.projectContext.segments);
  return {
    ...context,
    features: new Map(context.features),
    segments: new Map(context.segments),
    projectContext: { ...context.projectContext, segments: references },
    references,
  };
};

/** The feature of a change, in the state before all changes. */
const requireChangeableFeature = (
  { feature: name }: FeatureChange,
  { project, features }: ChangeContext,
  at: string,
): Feature => {
  const feature = features.get(name);
  if (feature?.project !== project) throw featureNotFound(name, project);
  if (feature.archivedAt !== null) {
    const message = 'Cannot perform this operation on archived features';
    throw refusal('ArchivedFeatureError', message, { details: [{ message, path: `${at}/feature` }] });
  }
  return feature;
};

/** The segment of a change, in the state before all changes. */
const requireChangeableSegment = (
  { payload: { id } }: SegmentChange,
  { project, segments }: ChangeContext,
  at: string,
): StoredSegment => {
  const segment = segments.get(id);
  if (segment?.project === null) {
    throw invalidProperty(
      'A change request changes segments of its project, and this one is for every project',
      `${at}/payload/id`,
    );
  }
  if (segment?.project !== project) throw notFound(`No segment exists with ID "${id}"`);
  return segment;
};

const checkFeatureChange = (
  change: FeatureChange,
  live: ChangeContext,
  now: ChangeState,
  at: string,
): CheckedChange => {
  const rule = featureRuleOf(change);
  const before = requireChangeableFeature(change, live, at);
  const snapshot = rule.snapshot(before, change, live);
  const { subject, payload } = rule.decide(now.features.get(before.name) ?? before, change, now, at);
  now.features.set(subject.name, subject);
  return { action: change.action, feature: before.name, segment: null, payload, snapshot };
};

const checkSegmentChange = (
  change: SegmentChange,
  live: ChangeContext,
  now: ChangeState,
  at: string,
): CheckedChange => {
  const rule = segmentRuleOf(change);
  const before = requireChangeableSegment(change, live, at);
  const snapshot = rule.snapshot(before, change, live);
  const { id, name } = before;
  const { subject, payload } = rule.decide(now.segments.get(id) ?? before, change, now, at);
  if (subject === null) now.segments.delete(id);
  else {
    now.segments.set(id, subject);
    now.references.set(id, subject);
  }
  return { action: change.action, feature: null, segment: { id, name }, payload, snapshot };
};

/** A proposal that violates a rule answers 400, whatever status the direct operation has. */
const asValidationError = (error: unknown, change: Change, at: string): unknown => {
  const kinds: readonly string[] = ['InvalidOperationError', 'NameExistsError', 'ConflictError'];
  if (!(error instanceof Refusal) || !kinds.includes(error.kind)) return error;
  const rule = isSegmentChange(change) ? segmentRuleOf(change) : featureRuleOf(change);
  return invalidProperty(error.message.replace(/\.$/, ''), `${at}${rule.errorPath}`);
};

const check = (change: Change, live: ChangeContext, now: ChangeState, at: string): CheckedChange => {
  try {
    return isSegmentChange(change)
      ? checkSegmentChange(change, live, now, at)
      : checkFeatureChange(change, live, now, at);
  } catch (error) {
    throw asValidationError(error, change, at);
  }
};

interface Step {
  readonly change: Change;
  /** which of the new changes it is; none, for an earlier one */
  readonly nth?: number;
}

/** Children are archived before their parents. */
const childrenFirst = (steps: readonly Step[], { features }: ChangeState): readonly Step[] => {
  const isChild = ({ change }: Step): boolean =>
    change.action === 'archiveFeature' && (features.get(change.feature)?.dependencies.length ?? 0) > 0;
  return [...steps.filter(isChild), ...steps.filter((step) => !isChild(step))];
};

/**
 * Says what changes come to on top of earlier ones, and refuses those that make no sense, as they would be when all are
 * applied together. An earlier change that has become impossible is no fault of the new ones.
 * @param at where the nth of the changes stands in the request
 */
export const checkChanges = (
  changes: readonly Change[],
  earlier: readonly Change[],
  context: ChangeContext,
  at = (nth: number): string => `/body/${nth}`,
): CheckedChange[] => {
  const { environment, project, projectContext } = context;
  if (!hasEnvironment(projectContext, environment)) {
    throw notFound(environmentNotFound(environment, project));
  }
  const now = initialState(context);
  const checked = new Map<number, CheckedChange>();
  const steps: readonly Step[] = [
    ...earlier.map((change) => ({ change })),
    ...changes.map((change, nth) => ({ change, nth })),
  ];
  for (const phase of phases) {
    for (const { change, nth } of childrenFirst(
      steps.filter((step) => phaseOf(step.change) === phase),
      now,
    )) {
      if (nth !== undefined) checked.set(nth, check(change, context, now, at(nth)));
      else ignoreRefusal(() => check(change, context, now, ''));
    }
  }
  return changes.map((_, nth) => checked.get(nth) as CheckedChange);
};

const ignoreRefusal = (job: () => unknown): void => {
  try {
    job();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
};
