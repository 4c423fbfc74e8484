import type { FeatureEntry } from './feature-entries.ts';
import type { FormerFeature, SegmentEntry } from './stored-entities.ts';

/** A change of an entity; the entity has the state after its newest change. */
export type EntityChange =
  | { readonly position: number; readonly feature: FeatureEntry }
  | { readonly position: number; readonly segment: SegmentEntry }
  | { readonly position: number; readonly former: FormerFeature }
  /** a change of an environment or its projects, which may concern every scope */
  | { readonly position: number; readonly environment: string };

/** Maximum number of recent changes; a reader with an older position scans all entities. */
const recentChangesLimit = 20_000;

/** The newest changes, in the order of their positions. */
export const recentChanges = () => {
  let changes: EntityChange[] = [];
  /** changes up to this position are no longer in `changes` */
  let discardedTo = 0;
  return {
    record: (change: EntityChange): void => {
      changes.push(change);
      if (changes.length <= 2 * recentChangesLimit) return;
      discardedTo = (changes[changes.length - recentChangesLimit - 1] as EntityChange).position;
      changes = changes.slice(-recentChangesLimit);
    },
    /** The changes after a position, oldest first; undefined where they are no longer retained. */
    after: (position: number): readonly EntityChange[] | undefined => {
      if (position < discardedTo) return undefined;
      let [low, high] = [0, changes.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((changes[middle] as EntityChange).position > position) high = middle;
        else low = middle + 1;
      }
      return changes.slice(low);
    },
    clear: (): void => {
      changes = [];
      discardedTo = 0;
    },
  };
};
export type RecentChanges = ReturnType<typeof recentChanges>;
