import {
  type FeatureChange,
  isSegmentChange,
  Refusal,
  type ChangeWithSnapshot,
  type SegmentChange,
} from '@bunting/contracts';
import { type DomainEvent, type Feature, inEnvironment } from '../features/feature.ts';
import type { StoredSegment } from '../segments/segment.ts';
import { disableIfNoActiveStrategy } from '../strategies/edit-strategy.ts';
import { toConflictCause, type ApplyConflict, findFeatureConflict, findSegmentConflict } from './conflicts.ts';
import { initialState, type StateAfterChanges, setSegment, type ChangeContext } from './change-context.ts';
import { type ImpliedChange, phases } from './action-handler.ts';
import { orderedChangesOfPhase, featureHandlerOf, segmentHandlerOf } from './action-handlers.ts';

/** The result of applying all changes. */
export interface AppliedState {
  /** by name: the features that the changes edit or refer to, in the state after the changes */
  readonly features: ReadonlyMap<string, Feature>;
  /** by id: the segments that the changes edit, without those that they delete */
  readonly segments: ReadonlyMap<number, StoredSegment>;
  readonly events: readonly DomainEvent[];
  /** if there is any, none of the changes may be applied */
  readonly conflicts: readonly ApplyConflict[];
  /** by name of the feature */
  readonly impliedChanges: ReadonlyMap<string, ImpliedChange>;
}

interface WorkingState {
  readonly state: StateAfterChanges;
  readonly events: DomainEvent[];
  readonly conflicts: ApplyConflict[];
  readonly impliedChanges: Map<string, ImpliedChange>;
}

function applyFeatureChange(change: FeatureChange, { state, events, impliedChanges }: WorkingState): void {
  const feature = state.features.get(change.feature);
  if (feature === undefined) return;
  const { subject, events: emitted, implied } = featureHandlerOf(change).decide(feature, change, state, '');
  state.features.set(subject.name, subject);
  events.push(...emitted);
  if (implied !== undefined) impliedChanges.set(feature.name, implied);
}

function applySegmentChange(change: SegmentChange, { state, events }: WorkingState): void {
  const { id } = change.payload;
  const segment = state.segments.get(id);
  if (segment === undefined) return;
  const { subject, events: emitted } = segmentHandlerOf(change).decide(segment, change, state, '');
  setSegment(state, id, subject);
  events.push(...emitted);
}

/** Disables the features that the changes have left enabled without an active strategy. */
function disableInactive(
  names: Iterable<string>,
  initial: ChangeContext,
  { state, events, impliedChanges }: WorkingState,
): void {
  for (const name of names) {
    const before = initial.features.get(name);
    const after = state.features.get(name);
    if (before === undefined || after === undefined) continue;
    const { environment } = state;
    if (inEnvironment(before, environment).strategies === inEnvironment(after, environment).strategies) continue;
    const decision = disableIfNoActiveStrategy(after, environment);
    if (decision.feature === after) continue;
    state.features.set(name, decision.feature);
    events.push(...decision.events);
    impliedChanges.set(name, { action: 'updateEnabled', payload: { enabled: false } });
  }
}

/**
 * Applies changes in memory and returns the result with all conflicts. Preview shows the result and apply saves it, so that the two cannot
 * disagree. Because of the phases, the result does not depend on the order in which the changes were proposed.
 */
export function applyInMemory(changes: readonly ChangeWithSnapshot[], context: ChangeContext): AppliedState {
  const working: WorkingState = { state: initialState(context), events: [], conflicts: [], impliedChanges: new Map() };
  const { state, conflicts, impliedChanges } = working;
  const changesInOrder = changes.toSorted((one, other) => one.id - other.id);
  const featureChanges = changesInOrder.map(({ change }) => change).filter((change) => !isSegmentChange(change));
  const changesByFeature = Map.groupBy(
    changesInOrder.flatMap((item) => (isSegmentChange(item.change) ? [] : [{ ...item, feature: item.change.feature }])),
    ({ feature }) => feature,
  );

  const blocked = new Set<string>();
  for (const [feature, changesOfFeature] of changesByFeature) {
    const cause = findFeatureConflict(feature, changesOfFeature, context);
    if (cause === undefined) continue;
    blocked.add(feature);
    conflicts.push({ ...cause, feature });
  }
  const archived = new Set(
    featureChanges.filter(({ action }) => action === 'archiveFeature').map(({ feature }) => feature),
  );

  const applyOrAddConflict = ({ id, change }: ChangeWithSnapshot): void => {
    const subject = isSegmentChange(change) ? { segment: change.payload.id } : { feature: change.feature };
    if (isSegmentChange(change)) {
      const cause = findSegmentConflict(change.payload.id, context);
      if (cause !== undefined) return void conflicts.push({ ...cause, ...subject, changeId: id });
    } else if (blocked.has(change.feature)) return;
    try {
      if (isSegmentChange(change)) applySegmentChange(change, working);
      else applyFeatureChange(change, working);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      conflicts.push({ ...toConflictCause(error, change, state), ...subject, changeId: id });
    }
  };

  for (const phase of phases) {
    for (const item of orderedChangesOfPhase(changesInOrder, phase, state)) applyOrAddConflict(item);
    if (phase === 'turn features on or off')
      disableInactive(
        [...changesByFeature.keys()].filter((name) => !archived.has(name)),
        context,
        working,
      );
  }
  for (const name of archived) impliedChanges.delete(name);
  return { features: state.features, segments: state.segments, events: working.events, conflicts, impliedChanges };
}
