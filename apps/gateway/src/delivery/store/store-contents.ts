import type { DeliveryStateTypes } from '@bunting/contracts';
import { featureEntryIndex, type FeatureEntryIndex } from './feature-entry-index.ts';
import { recentChanges, type RecentChanges } from './recent-changes.ts';
import type { FormerFeature, SegmentEntry } from './stored-entities.ts';

/** What the delivery store holds in memory: entities, deleted ones included, and their newest changes. */
export interface StoreContents {
  readonly environments: Map<string, DeliveryStateTypes['environment']>;
  /** by environment: the projects that have it */
  readonly projectsWith: Map<string, Set<string>>;
  readonly features: FeatureEntryIndex;
  readonly segments: Map<number, SegmentEntry>;
  readonly formerFeatures: Map<string, FormerFeature>;
  readonly changes: RecentChanges;
  /**
   * the lowest revision that a delta can begin at: earlier ones are from before a backup was restored, or removals after them were pruned
   */
  historyFrom: number;
  /** removals since deleted entities were last pruned */
  removalsSincePrune: number;
}

export const emptyStoreContents = (): StoreContents => ({
  environments: new Map(),
  projectsWith: new Map(),
  features: featureEntryIndex(),
  segments: new Map(),
  formerFeatures: new Map(),
  changes: recentChanges(),
  historyFrom: 0,
  removalsSincePrune: 0,
});

/** Removes all entities and changes. */
export const clearStoreContents = (contents: StoreContents): void => {
  const { environments, projectsWith, features, segments, formerFeatures, changes } = contents;
  for (const part of [environments, projectsWith, features, segments, formerFeatures, changes]) part.clear();
};
