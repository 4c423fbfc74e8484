import {
  type Change,
  type CheckedChange,
  environmentNotInProject,
  type ErrorKind,
  type FeatureChange,
  invalidProperty,
  isSegmentChange,
  Refusal,
  type SegmentChange,
} from '@bunting/contracts';
import type { StoredSegment } from '../segments/segment.ts';
import type { Feature } from '../features/feature.ts';
import { hasEnvironment } from '../projects/project-context.ts';
import { archivedFeatureRefused, featureNotInProject, segmentNotFound } from '../refusals.ts';
import { type StateAfterChanges, initialState, setSegment, type ChangeContext } from './change-context.ts';
import { phases } from './action-handler.ts';
import { orderedChangesOfPhase, featureHandlerOf, handlerOf, segmentHandlerOf } from './action-handlers.ts';

/** The feature of a change, in the state before all changes. */
function requireChangeableFeature(
  { feature: name }: FeatureChange,
  { project, features }: ChangeContext,
  path: string,
): Feature {
  const feature = features.get(name);
  if (feature?.project !== project) throw featureNotInProject(name, project);
  if (feature.archivedAt !== null) throw archivedFeatureRefused(`${path}/feature`);
  return feature;
}

/** The segment of a change, in the state before all changes. */
function requireChangeableSegment(
  { action, payload: { id } }: SegmentChange,
  { project, segments }: ChangeContext,
  path: string,
): StoredSegment {
  const segment = segments.get(id);
  if (segment === undefined || (segment.project !== null && segment.project !== project)) throw segmentNotFound(id);
  if (segment.project === null && action === 'updateSegmentList') {
    throw invalidProperty(
      'A change request changes lists of segments of its project, and this segment is for every project',
      `${path}/payload/id`,
    );
  }
  return segment;
}

function checkFeatureChange(
  change: FeatureChange,
  initial: ChangeContext,
  state: StateAfterChanges,
  path: string,
): CheckedChange {
  const handler = featureHandlerOf(change);
  const before = requireChangeableFeature(change, initial, path);
  const snapshot = handler.snapshot(before, change, initial);
  const { subject, payload } = handler.decide(state.features.get(before.name) ?? before, change, state, path);
  state.features.set(subject.name, subject);
  const { name: feature, createdAt: featureCreatedAt } = before;
  return { action: change.action, feature, segment: null, payload, snapshot, featureCreatedAt };
}

function checkSegmentChange(
  change: SegmentChange,
  initial: ChangeContext,
  state: StateAfterChanges,
  path: string,
): CheckedChange {
  const handler = segmentHandlerOf(change);
  const before = requireChangeableSegment(change, initial, path);
  const snapshot = handler.snapshot(before, change, initial);
  const { id, name } = before;
  const { subject, payload } = handler.decide(state.segments.get(id) ?? before, change, state, path);
  setSegment(state, id, subject);
  return { action: change.action, feature: null, segment: { id, name }, payload, snapshot };
}

/** A proposal that violates a rule is refused with 400, also where the direct operation replies with another status. */
function asValidationError(error: unknown, change: Change, path: string): unknown {
  const kinds: readonly ErrorKind[] = ['InvalidOperationError', 'NameExistsError', 'ConflictError'];
  if (!(error instanceof Refusal) || !kinds.includes(error.kind)) return error;
  return invalidProperty(error.message.replace(/\.$/, ''), `${path}${handlerOf(change).errorPath}`);
}

function checkChange(change: Change, initial: ChangeContext, state: StateAfterChanges, path: string): CheckedChange {
  try {
    return isSegmentChange(change)
      ? checkSegmentChange(change, initial, state, path)
      : checkFeatureChange(change, initial, state, path);
  } catch (error) {
    throw asValidationError(error, change, path);
  }
}

interface ChangeToCheck {
  readonly change: Change;
  /** the index among the new changes; undefined for an earlier change */
  readonly index?: number;
}

/** The request to which changes are proposed. */
interface RequestContent {
  readonly earlier: readonly Change[];
  /** the order of application, as indexes into the earlier changes followed by the new ones; undefined for that order */
  readonly order?: readonly number[] | undefined;
}

function succeeds(job: () => unknown): boolean {
  try {
    job();
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return false;
  }
}

/** The earlier changes that can be applied without the new ones. */
function possibleChanges(earlier: readonly Change[], context: ChangeContext): ReadonlySet<Change> {
  const state = initialState(context);
  const items = earlier.map((change) => ({ change }));
  const possible = phases.map((phase) =>
    orderedChangesOfPhase(items, phase, state).filter(({ change }) =>
      succeeds(() => checkChange(change, context, state, '')),
    ),
  );
  return new Set(possible.flat().map(({ change }) => change));
}

/**
 * Checks changes on top of earlier ones, in the order in which all of them would be applied, and returns their normalised payloads and
 * snapshots. Refuses a change that breaks a rule, and one that takes the place of another and makes a change that is applied after it
 * impossible. An earlier change that is impossible without the new ones is no fault of theirs.
 * @param pathOf the JSON pointer of a new change within the request, by its index
 */
export function prepareProposal(
  changes: readonly Change[],
  { earlier, order }: RequestContent,
  context: ChangeContext,
  pathOf = (index: number): string => `/body/${index}`,
): CheckedChange[] {
  const { environment, project, projectContext } = context;
  if (!hasEnvironment(projectContext, environment)) {
    throw environmentNotInProject(environment, project);
  }
  const state = initialState(context);
  const checked = new Map<number, CheckedChange>();
  const all: readonly ChangeToCheck[] = [
    ...earlier.map((change) => ({ change })),
    ...changes.map((change, index) => ({ change, index })),
  ];
  const toCheck = order === undefined ? all : order.flatMap((position) => all[position] ?? []);
  /** Computed once, for the first change that is impossible: it checks all of them. */
  let possibleAlone: ReadonlySet<Change> | undefined;
  for (const phase of phases) {
    let latest: Required<ChangeToCheck> | undefined;
    for (const { change, index } of orderedChangesOfPhase(toCheck, phase, state)) {
      if (index !== undefined) {
        latest = { change, index };
        checked.set(index, checkChange(change, context, state, pathOf(index)));
        continue;
      }
      const isPossible = succeeds(() => checkChange(change, context, state, ''));
      if (isPossible || latest === undefined) continue;
      possibleAlone ??= possibleChanges(earlier, context);
      if (possibleAlone.has(change)) {
        const path = `${pathOf(latest.index)}${handlerOf(latest.change).errorPath}`;
        throw invalidProperty('The change makes another one of the change request impossible', path);
      }
    }
  }
  return changes.map((_, index) => checked.get(index) as CheckedChange);
}
