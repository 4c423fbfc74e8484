import type { DeliveryScope } from '@bunting/contracts';
import type { DeliveryStore, EntityChange, SegmentEntry } from '../store/delivery-store.ts';
import { type FeatureEntry, partIn } from '../store/feature-entries.ts';
import type { ScopeFilter } from './delivery-view.ts';

/** By entity: the position of the last change that counts for a revision. */
export interface Positions {
  readonly ofFeature: (feature: FeatureEntry) => number;
  readonly ofSegment: (segment: SegmentEntry) => number;
}

/** The positions of the changes of what the clients of a scope get. */
export function deliveredPositions(
  store: DeliveryStore,
  { environment, tags }: DeliveryScope,
  { isVisible }: ScopeFilter,
): Positions {
  return {
    ofFeature: (feature) => {
      if (tags === undefined || feature.isArchived) return store.positionOf(feature, environment);
      // Of a feature without the tags of the scope its clients can notice only that it has lost them.
      return isVisible(feature)
        ? Math.max(store.positionOf(feature, environment), feature.tagsPosition)
        : feature.tagsPosition;
    },
    ofSegment: ({ position }) => position,
  };
}

/** The positions of the changes that may change a result for a user of the scope, which has no tags. */
export function evaluatedPositions(store: DeliveryStore, { environment }: DeliveryScope): Positions {
  return {
    ofFeature: (feature) => Math.max(feature.evaluatedPosition, partIn(feature, environment)?.position ?? 0),
    ofSegment: ({ evaluatedPosition }) => evaluatedPosition,
  };
}

/** Maximum number of segments that a scope remembers as no longer used. */
const maxSegmentsLeft = 1_000;

/**
 * The newest revision that a scope can notice by the positions, and the ids of the segments that its features use. Other changes of the
 * store invalidate nothing.
 */
export function scopeRevision(
  store: DeliveryStore,
  environment: string,
  { isVisible, concernsScope, formerConcernsScope }: ScopeFilter,
  positions: Positions,
) {
  let epoch = -1;
  /** the position of the store up to which the revision is up to date */
  let checkedTo = 0;
  /** the newest change that the scope can notice */
  let revision = 0;
  /** the ids of the segments that visible features use; undefined when invalidated */
  let cachedSegmentIds: ReadonlySet<number> | undefined;
  /** the ids as of when they were last read */
  let lastSegmentIds: ReadonlySet<number> = new Set();
  /** by segment that no visible feature uses any more: the position at which that was noticed, oldest first */
  const segmentsLeft = new Map<number, number>();

  const noteSegmentsLeft = (ids: ReadonlySet<number>): void => {
    for (const id of lastSegmentIds) if (!ids.has(id)) segmentsLeft.set(id, store.position);
    for (const id of ids) segmentsLeft.delete(id);
    for (const id of segmentsLeft.keys()) {
      if (segmentsLeft.size <= maxSegmentsLeft) break;
      segmentsLeft.delete(id);
    }
    lastSegmentIds = ids;
  };

  const usedSegmentIds = (): ReadonlySet<number> => {
    if (cachedSegmentIds !== undefined) return cachedSegmentIds;
    const ids = new Set<number>();
    for (const feature of store.features()) {
      if (!isVisible(feature)) continue;
      for (const id of store.partOf(feature, environment).segments) ids.add(id);
    }
    noteSegmentsLeft(ids);
    return (cachedSegmentIds = ids);
  };

  /** The position of a change that the scope can notice; 0 for any other change. */
  const relevantPosition = (change: EntityChange): number => {
    if ('feature' in change) {
      const { feature } = change;
      return concernsScope(feature) ? positions.ofFeature(feature) : 0;
    }
    if ('former' in change) return formerConcernsScope(change.former) ? change.former.position : 0;
    if ('segment' in change) {
      const { segment } = change;
      return usedSegmentIds().has(segment.id) ? positions.ofSegment(segment) : 0;
    }
    return 0;
  };

  const scanRevision = (): number => {
    let newest = Math.max(store.historyFrom, store.revisedAt);
    const include = (position: number): void => void (newest = Math.max(newest, position));
    for (const feature of store.features()) include(relevantPosition({ position: 0, feature }));
    for (const former of store.formerFeatures()) include(relevantPosition({ position: 0, former }));
    for (const segment of store.segments()) include(relevantPosition({ position: 0, segment }));
    return newest;
  };

  return {
    /** Applies the changes of the store. @returns whether the scope can notice any of them */
    update: (): boolean => {
      const { position } = store;
      if (store.epoch === epoch && position === checkedTo && store.revisedAt <= revision) return false;
      if (store.epoch !== epoch) {
        lastSegmentIds = new Set();
        segmentsLeft.clear();
      }
      const changes = store.epoch === epoch ? store.changesAfter(checkedTo) : undefined;
      let newest = Math.max(revision, store.historyFrom, store.revisedAt);
      if (changes === undefined) {
        cachedSegmentIds = undefined;
        newest = scanRevision();
      } else {
        // A feature that has left the scope may have been the only one with a segment.
        if (changes.some((change) => !('segment' in change) && relevantPosition(change) > revision))
          cachedSegmentIds = undefined;
        for (const change of changes) newest = Math.max(newest, relevantPosition(change));
      }
      checkedTo = position;
      if (changes !== undefined && newest === revision) return false;
      epoch = store.epoch;
      revision = newest;
      return true;
    },
    get revision() {
      return revision;
    },
    /** the epoch of the store that the revision is of */
    get epoch() {
      return epoch;
    },
    usedSegmentIds,
    /**
     * By segment: the position from which on no feature of the scope uses it. Only those that this process has seen in use: a client that
     * keeps another one never evaluates it.
     */
    segmentsLeft: (): ReadonlyMap<number, number> => {
      usedSegmentIds();
      return segmentsLeft;
    },
  };
}
export type ScopeRevision = ReturnType<typeof scopeRevision>;
