import type { DeliveryStateTypes } from '@bunting/contracts';
import { featureIndex, type FeatureIndex } from './feature-index.ts';
import { recentChanges, type RecentChanges } from './recent-changes.ts';
import type { FormerFeature, SegmentEntry } from './stored-entities.ts';

/** The entities that the delivery store holds, deleted ones included, and their newest changes. */
export interface DeliveryTables {
  readonly environments: Map<string, DeliveryStateTypes['environment']>;
  /** by environment: the projects that have it */
  readonly projectsWith: Map<string, Set<string>>;
  readonly features: FeatureIndex;
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

export const emptyDeliveryTables = (): DeliveryTables => ({
  environments: new Map(),
  projectsWith: new Map(),
  features: featureIndex(),
  segments: new Map(),
  formerFeatures: new Map(),
  changes: recentChanges(),
  historyFrom: 0,
  removalsSincePrune: 0,
});

/** Removes all entities and changes. */
export const clearDeliveryTables = (tables: DeliveryTables): void => {
  const { environments, projectsWith, features, segments, formerFeatures, changes } = tables;
  for (const table of [environments, projectsWith, features, segments, formerFeatures, changes]) table.clear();
};
