import {
  type AppliedChanges,
  asJsonObject,
  type ChangeAction,
  type ChangeRequestPreview,
  comparableMember,
  isEqual,
  isEqualContent,
  type Refusal,
  refusal,
  segmentInUse,
} from '@bunting/contracts';
import { parentFeatureOf, payloadIdOf } from '../proposals/proposed-change.ts';
import type { ChangeRequest, ProposedChange } from '../requests/change-request.ts';

/** The properties of a scheduled change that decide whether another change collides with it. */
export interface ScheduledChange {
  readonly action: ChangeAction;
  readonly feature: string | null;
  readonly segment: number | null;
  readonly payload: unknown;
}

/** A scheduled request, with the changes that others could collide with. */
export interface ScheduledRequest {
  readonly id: number;
  readonly title: string | null;
  readonly environment: string;
  readonly changes: readonly ScheduledChange[];
}

function differ(one: unknown, other: unknown): boolean {
  return !isEqualContent(asJsonObject(one), asJsonObject(other));
}

/** Whether two updates of one object set a common property, or a common parameter, to different values. */
function disagree(one: unknown, other: unknown): boolean {
  const [mine, theirs] = [asJsonObject(one), asJsonObject(other)];
  return Object.keys(mine).some((key) => {
    if (!Object.hasOwn(theirs, key)) return false;
    if (key === 'parameters') return disagree(mine[key], theirs[key]);
    return !isEqual(comparableMember(key, mine[key]), comparableMember(key, theirs[key]));
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
function sortOrdersOf(payload: unknown) {
  return new Map(listOf(payload).map((moved) => [payloadIdOf(moved), asJsonObject(moved)['sortOrder']]));
}
function usesSegment(payload: unknown, id: number): boolean {
  return listOf(asJsonObject(payload)['segments']).includes(id);
}

interface CollisionRule {
  /** whether changes in different environments collide, too */
  readonly acrossEnvironments: boolean;
  readonly collides: (mine: ProposedChange, theirs: ScheduledChange) => boolean;
}

function acrossEnvironments(collides: CollisionRule['collides']): CollisionRule {
  return {
    acrossEnvironments: true,
    collides,
  };
}

function onSameFeature(collides: CollisionRule['collides']): CollisionRule {
  return {
    acrossEnvironments: false,
    collides: (mine, theirs) => theirs.feature === mine.feature && collides(mine, theirs),
  };
}

const neverCollides: CollisionRule = { acrossEnvironments: false, collides: () => false };

/** By action: the scheduled changes that would fail, or would undo the change. */
const collisionRules: Readonly<Record<ChangeAction, CollisionRule>> = {
  addStrategy: neverCollides,
  updateEnabled: neverCollides,
  archiveFeature: acrossEnvironments(
    (mine, theirs) =>
      (theirs.feature === mine.feature && theirs.action !== 'archiveFeature') ||
      parentFeatureOf(theirs) === mine.feature,
  ),
  addDependency: acrossEnvironments((mine, theirs) => {
    const { action, feature, payload } = theirs;
    if (action === 'deleteDependency') return feature === mine.feature;
    if (action !== 'addDependency') return false;
    if (feature === mine.feature) return differ(mine.payload, payload);
    // Dependencies have one level: a feature cannot be both a parent and a child.
    return feature === parentFeatureOf(mine) || parentFeatureOf(theirs) === mine.feature;
  }),
  deleteDependency: acrossEnvironments(
    (mine, { action, feature }) => action === 'addDependency' && feature === mine.feature,
  ),
  updateSegment: acrossEnvironments((mine, { action, segment, payload }) => {
    if (segment === null || segment !== mine.segment?.id) return false;
    return action === 'deleteSegment' || disagree(mine.payload, payload);
  }),
  updateSegmentList: acrossEnvironments((mine, { action, segment, payload }) => {
    if (segment === null || segment !== mine.segment?.id) return false;
    return action === 'deleteSegment' || (action === 'updateSegmentList' && differ(mine.payload, payload));
  }),
  deleteSegment: acrossEnvironments((mine, { action, segment, payload }) => {
    if (mine.segment === null) return false;
    if (segment === mine.segment.id) return action === 'updateSegment' || action === 'updateSegmentList';
    return (action === 'addStrategy' || action === 'updateStrategy') && usesSegment(payload, mine.segment.id);
  }),
  updateStrategy: onSameFeature((mine, { action, payload }) => {
    if (payloadIdOf(mine.payload) !== payloadIdOf(payload)) return false;
    return action === 'deleteStrategy' || (action === 'updateStrategy' && disagree(mine.payload, payload));
  }),
  deleteStrategy: onSameFeature((mine, { action, payload }) => {
    if (action === 'reorderStrategy') return sortOrdersOf(payload).has(payloadIdOf(mine.payload));
    return action === 'updateStrategy' && payloadIdOf(mine.payload) === payloadIdOf(payload);
  }),
  reorderStrategy: onSameFeature((mine, { action, payload }) => {
    if (action !== 'reorderStrategy') return false;
    const theirs = sortOrdersOf(payload);
    return [...sortOrdersOf(mine.payload)].some(([id, sortOrder]) => theirs.has(id) && theirs.get(id) !== sortOrder);
  }),
  patchVariant: onSameFeature(
    (mine, { action, payload }) => action === 'patchVariant' && differ(mine.payload, payload),
  ),
};

/** The scheduled requests that would fail, or would undo the change, once the change is applied. */
export function scheduleConflictsOf(
  mine: ProposedChange,
  environment: string,
  scheduled: readonly ScheduledRequest[],
): ScheduledRequest[] {
  const rule = collisionRules[mine.action];
  return scheduled.filter(
    (theirs) =>
      (rule.acrossEnvironments || theirs.environment === environment) &&
      theirs.changes.some((change) => rule.collides(mine, change)),
  );
}

/** The objects by which changes can conflict with other requests. */
export function subjectsToCompare(changes: readonly ProposedChange[]) {
  return {
    features: [...new Set(changes.flatMap((change) => [change.feature ?? [], parentFeatureOf(change) ?? []].flat()))],
    segments: [...new Set(changes.flatMap(({ segment }) => segment?.id ?? []))],
  };
}

function segmentDeletions(changes: readonly ProposedChange[]) {
  return changes.flatMap(({ id, action, segment }) =>
    action === 'deleteSegment' && segment !== null ? [{ id, segment }] : [],
  );
}

/** The ids of the segments that changes delete. */
export function segmentsToDelete(changes: readonly ProposedChange[]): number[] {
  return segmentDeletions(changes).map(({ segment }) => segment.id);
}

/** An open request that adds a segment to a strategy. */
export interface SegmentUse {
  readonly id: number;
  readonly segment: number;
}

/** The deletions of segments that another open request adds to a strategy. */
function deletionsOfUsedSegments({ id, changes }: Pick<ChangeRequest, 'id' | 'changes'>, uses: readonly SegmentUse[]) {
  const used = new Set(uses.filter((use) => use.id !== id).map(({ segment }) => segment));
  return segmentDeletions(changes).filter(({ segment }) => used.has(segment.id));
}

/** The conflicts of applying a request that deletes segments which other open requests add to a strategy. */
export function segmentConflicts(
  request: Pick<ChangeRequest, 'id' | 'changes'>,
  uses: readonly SegmentUse[],
): AppliedChanges['conflicts'] {
  return deletionsOfUsedSegments(request, uses).map(({ id: changeId, segment }) => ({
    ...segmentInUse(segment.name),
    segment: segment.id,
    changeId,
  }));
}

/** The requests of a project with which a request may conflict. They may include that request itself, which is ignored. */
export interface OtherRequests {
  readonly scheduled: readonly ScheduledRequest[];
  readonly uses: readonly SegmentUse[];
}

type Previewed = ChangeRequestPreview['features'][number]['changes'][number];

/** Adds the conflicts with other requests of the project to a preview. */
export function addConflictsWithOtherRequests<P extends ChangeRequestPreview>(
  preview: P,
  request: Pick<ChangeRequest, 'id' | 'environment' | 'changes'>,
  { scheduled, uses }: OtherRequests,
): P {
  if (scheduled.length === 0 && uses.length === 0) return preview;
  const { environment, changes } = request;
  const others = scheduled.filter(({ id }) => id !== request.id);
  const byId = new Map(changes.map((change) => [change.id, change]));
  const withScheduleConflicts = (previewed: Previewed): Previewed => {
    const change = byId.get(previewed.id);
    const colliding = change === undefined ? [] : scheduleConflictsOf(change, environment, others);
    if (colliding.length === 0) return previewed;
    const changeRequests = colliding.map(({ id, title }) => ({ id, ...(title === null ? {} : { title }) }));
    return { ...previewed, scheduleConflicts: { changeRequests } };
  };
  const conflictingDeletions = new Set(deletionsOfUsedSegments(request, uses).map(({ id }) => id));
  const withSegmentConflict = (previewed: Previewed, segment: string): Previewed => {
    if (previewed.conflict !== undefined || !conflictingDeletions.has(previewed.id)) return previewed;
    const { code: conflictCode, message: conflict } = segmentInUse(segment);
    return { ...previewed, conflict, conflictCode };
  };
  return {
    ...preview,
    features: preview.features.map((feature) => ({ ...feature, changes: feature.changes.map(withScheduleConflicts) })),
    segments: preview.segments.map((segment) => ({
      ...segment,
      changes: segment.changes.map((change) => withSegmentConflict(withScheduleConflicts(change), segment.name)),
    })),
    applicable: preview.applicable && conflictingDeletions.size === 0,
  };
}

export type ApplyConflicts = AppliedChanges['conflicts'];

/** The conflicts in a preview, each with the feature or segment that it is about, and the change unless all of a feature are in conflict. */
export function conflictsInPreview({ features, segments }: ChangeRequestPreview): ApplyConflicts {
  return [
    ...features.flatMap(({ name: feature, conflict, conflictCode = 'refused', changes }) => [
      ...(conflict === undefined ? [] : [{ code: conflictCode, message: conflict, feature }]),
      ...changes.flatMap(({ id: changeId, conflict: message, conflictCode: code = 'refused' }) =>
        message === undefined ? [] : [{ code, message, feature, changeId }],
      ),
    ]),
    ...segments.flatMap(({ id: segment, changes }) =>
      changes.flatMap(({ id: changeId, conflict: message, conflictCode: code = 'refused' }) =>
        message === undefined ? [] : [{ code, message, segment, changeId }],
      ),
    ),
  ];
}

/** 409 with each conflict as a detail; the first is the message. */
export function conflictRefusal(conflicts: ApplyConflicts): Refusal {
  return refusal('ConflictError', conflicts[0]?.message ?? 'Change request is in conflict', { details: conflicts });
}
