import { asJsonObject, type ChangeAction, type ChangeRequestPreview } from '@bunting/contracts';
import type { ProposedChange } from './change-request.ts';

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

const differ = (one: unknown, other: unknown): boolean => JSON.stringify(one ?? null) !== JSON.stringify(other ?? null);

/** Whether two updates of one object set a common property to different values. */
const disagree = (one: unknown, other: unknown): boolean => {
  const [mine, theirs] = [asJsonObject(one), asJsonObject(other)];
  return Object.keys(mine).some((key) => Object.hasOwn(theirs, key) && differ(mine[key], theirs[key]));
};

const idOf = (payload: unknown): unknown => asJsonObject(payload)['id'];
const parentOf = (payload: unknown): unknown => asJsonObject(payload)['feature'];
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const sortOrdersOf = (payload: unknown) =>
  new Map(listOf(payload).map((moved) => [idOf(moved), asJsonObject(moved)['sortOrder']]));
const usesSegment = (payload: unknown, id: number): boolean => listOf(asJsonObject(payload)['segments']).includes(id);

/** Collisions regardless of the environment. */
const collidesEverywhere = (mine: ProposedChange, { action, feature, segment, payload }: ScheduledChange): boolean => {
  switch (mine.action) {
    case 'archiveFeature':
      return (
        (feature === mine.feature && action !== 'archiveFeature') ||
        (action === 'addDependency' && parentOf(payload) === mine.feature)
      );
    case 'addDependency':
      if (action === 'deleteDependency') return feature === mine.feature;
      if (action !== 'addDependency') return false;
      if (feature === mine.feature) return differ(mine.payload, payload);
      // Dependencies have one level: a feature cannot be both a parent and a child.
      return feature === parentOf(mine.payload) || parentOf(payload) === mine.feature;
    case 'deleteDependency':
      return action === 'addDependency' && feature === mine.feature;
    case 'updateSegment':
      if (segment === null || segment !== mine.segment?.id) return false;
      return action === 'deleteSegment' || disagree(mine.payload, payload);
    case 'deleteSegment':
      if (mine.segment === null) return false;
      if (segment === mine.segment.id) return action === 'updateSegment';
      return (action === 'addStrategy' || action === 'updateStrategy') && usesSegment(payload, mine.segment.id);
    default:
      return false;
  }
};

/** Collisions within one environment. */
const collidesThere = (mine: ProposedChange, { action, feature, payload }: ScheduledChange): boolean => {
  if (feature !== mine.feature) return false;
  switch (mine.action) {
    case 'updateStrategy':
      if (idOf(mine.payload) !== idOf(payload)) return false;
      return action === 'deleteStrategy' || (action === 'updateStrategy' && disagree(mine.payload, payload));
    case 'deleteStrategy':
      if (action === 'reorderStrategy') return sortOrdersOf(payload).has(idOf(mine.payload));
      return action === 'updateStrategy' && idOf(mine.payload) === idOf(payload);
    case 'reorderStrategy': {
      if (action !== 'reorderStrategy') return false;
      const theirs = sortOrdersOf(payload);
      return [...sortOrdersOf(mine.payload)].some(([id, sortOrder]) => theirs.has(id) && theirs.get(id) !== sortOrder);
    }
    case 'patchVariant':
      return action === 'patchVariant' && differ(mine.payload, payload);
    default:
      return false;
  }
};

/** The scheduled requests that would fail, or would undo the change, once the change is applied. */
export const scheduleConflictsOf = (
  mine: ProposedChange,
  environment: string,
  scheduled: readonly ScheduledRequest[],
): ScheduledRequest[] =>
  scheduled.filter(({ environment: theirs, changes }) =>
    changes.some(
      (change) => collidesEverywhere(mine, change) || (theirs === environment && collidesThere(mine, change)),
    ),
  );

/** Other requests of the project: the scheduled ones, and the segments that any open one adds to a strategy. */
export interface OtherRequests {
  readonly scheduled: readonly ScheduledRequest[];
  readonly usedSegments: ReadonlySet<number>;
}

type Previewed = ChangeRequestPreview['features'][number]['changes'][number];

/** Adds the conflicts with other requests of the project to a preview. */
export const addConflictsWithOtherRequests = <P extends ChangeRequestPreview>(
  preview: P,
  { environment, changes }: { readonly environment: string; readonly changes: readonly ProposedChange[] },
  { scheduled, usedSegments }: OtherRequests,
): P => {
  if (scheduled.length === 0 && usedSegments.size === 0) return preview;
  const byId = new Map(changes.map((change) => [change.id, change]));
  let inUse = false;
  const seen = (previewed: Previewed, segmentName = ''): Previewed => {
    const change = byId.get(previewed.id);
    if (change === undefined) return previewed;
    const colliding = scheduleConflictsOf(change, environment, scheduled).map(({ id, title }) => ({
      id,
      ...(title === null ? {} : { title }),
    }));
    const isUsed = change.action === 'deleteSegment' && change.segment !== null && usedSegments.has(change.segment.id);
    inUse ||= isUsed;
    return {
      ...previewed,
      ...(isUsed && previewed.conflict === undefined ? segmentInUse(segmentName) : {}),
      ...(colliding.length === 0 ? {} : { scheduleConflicts: { changeRequests: colliding } }),
    };
  };
  const features = preview.features.map((feature) => ({
    ...feature,
    changes: feature.changes.map((change) => seen(change)),
  }));
  const segments = preview.segments.map((segment) => ({
    ...segment,
    changes: segment.changes.map((change) => seen(change, segment.name)),
  }));
  return { ...preview, features, segments, applicable: preview.applicable && !inUse };
};

/** The conflict of deleting a segment that another request adds to a strategy. */
export const segmentInUse = (name: string) =>
  ({ conflict: `Segment ${name} is in use`, conflictCode: 'segment-in-use' }) as const;
