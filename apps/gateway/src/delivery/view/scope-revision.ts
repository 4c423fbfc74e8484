import type { DeliveryStore } from '../store/delivery-store.ts';
import type { EntityChange } from '../store/recent-changes.ts';
import type { ScopeFilter } from './scope-filter.ts';

/** The newest revision that a scope can notice, and the ids of the segments that its features use. Other changes of the store invalidate nothing. */
export const scopeRevision = (
  store: DeliveryStore,
  environment: string,
  { isVisible, concernsScope, formerConcernsScope }: ScopeFilter,
) => {
  let epoch = -1;
  /** the position of the store up to which the revision is up to date */
  let checkedTo = 0;
  /** the newest change that the scope can notice */
  let revision = 0;
  /** the ids of the segments that visible features use; undefined when invalidated */
  let cachedSegmentIds: ReadonlySet<number> | undefined;

  const usedSegmentIds = (): ReadonlySet<number> => {
    if (cachedSegmentIds !== undefined) return cachedSegmentIds;
    const ids = new Set<number>();
    for (const feature of store.features()) {
      if (!isVisible(feature)) continue;
      for (const id of store.partOf(feature, environment).segments) ids.add(id);
    }
    return (cachedSegmentIds = ids);
  };

  /** The position of a change that the scope can notice; 0 for any other change. */
  const relevantPosition = (change: EntityChange): number => {
    if ('feature' in change) {
      const { feature } = change;
      return concernsScope(feature) ? store.positionOf(feature, environment) : 0;
    }
    if ('former' in change) return formerConcernsScope(change.former) ? change.former.position : 0;
    if ('segment' in change) {
      const { segment } = change;
      return segment.json === undefined || usedSegmentIds().has(segment.id) ? segment.position : 0;
    }
    return 0;
  };

  const scanRevision = (): number => {
    let newest = store.historyFrom;
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
      if (store.epoch === epoch && position === checkedTo) return false;
      const changes = store.epoch === epoch ? store.changesAfter(checkedTo) : undefined;
      let newest = Math.max(revision, store.historyFrom);
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
  };
};
