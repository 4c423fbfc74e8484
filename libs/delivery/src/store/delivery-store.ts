import type { EvaluableList } from '@bunting/evaluation';
import { boundEnvironment, type Caller, type DeliveryStateTypes, type OutboxMessage } from '@bunting/contracts';
import { applyDeliveryRow, pruneRemovedEntities, type StoreRow } from './apply-rows.ts';
import type { LoadedList } from './id-lists.ts';
import {
  compareNames,
  emptyPart,
  type EnvironmentPart,
  type FeatureEntry,
  type FeatureEntryIndex,
  featureEntryIndex,
  partIn,
} from './feature-entries.ts';

/** A segment as JSON text, with the position of the row that last changed it. */
export interface SegmentEntry {
  readonly id: number;
  position: number;
  /** the position of the row that last changed the constraints */
  evaluatedPosition: number;
  /** undefined once it is deleted */
  json: string | undefined;
  /** the same for edges, with a reference to the list instead of its ids; of a list that is not known `json` */
  referenceJson: string | undefined;
  /** a JSON array without its brackets: with the list, as server SDKs get it */
  constraints: string;
  /** the list; `json` has only those ids that server SDKs get */
  list: SegmentEntryList | undefined;
  /** the lists that it had a short while ago, newest first: an edge asks for their blocks a moment after it has learned of them */
  formerLists: readonly FormerList[];
}

/** A list that a segment had. */
export interface FormerList {
  readonly ids: LoadedList;
  readonly root: string;
  /** until when its blocks are sent, in milliseconds since the epoch */
  readonly until: number;
}

/** The list of a segment. */
export interface SegmentEntryList extends EvaluableList {
  readonly root: string;
  readonly ids: LoadedList | undefined;
  /** a JSON array without its brackets: the constraints without the list */
  readonly ownConstraints: string;
}

/** Finds the ids of a list by the hash of its root; undefined where they are not there: the segment then matches nobody. */
type FindIdList = (root: string) => LoadedList | undefined;

/** A feature that was deleted from a project or moved to another: SDKs of the first project remove it. */
export interface FormerFeature {
  readonly name: string;
  readonly project: string;
  readonly position: number;
  /** until the row of its deletion is complete: the position is that of its archiving */
  readonly wasArchived?: true;
}

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
function recentChanges() {
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
}
type RecentChanges = ReturnType<typeof recentChanges>;

/** Where the store finds lists of segments, and how many ids of one server SDKs get. */
export interface ListSource {
  readonly find: FindIdList;
  readonly maxIdsToSdks: number;
  /** milliseconds since the epoch, for tests */
  readonly now?: () => number;
}

/** A row with the position that its changes get. */
export interface StoreMessage {
  readonly position: number;
  readonly payload: StoreRow;
}

/** What the delivery store holds in memory: entities, deleted ones included, and their newest changes. */
export interface StoreContents {
  readonly environments: Map<string, DeliveryStateTypes['environment']>;
  /** by environment: the projects that have it */
  readonly projectsWith: Map<string, Set<string>>;
  readonly features: FeatureEntryIndex;
  readonly segments: Map<number, SegmentEntry>;
  readonly lists: ListSource;
  readonly formerFeatures: Map<string, FormerFeature>;
  readonly changes: RecentChanges;
  /**
   * the lowest revision that a delta can begin at: earlier ones are from before a backup was restored, or removals after them were pruned
   */
  historyFrom: number;
  /** removals since deleted entities were last pruned */
  removalsSincePrune: number;
  /** the position at which every scope counts as changed, whatever has changed in it */
  revisedAt: number;
  /** clients with a revision below it get the full state, though the revision may be later than the position */
  hydratesBelow: number;
}

function emptyStoreContents(lists: ListSource): StoreContents {
  return {
    lists,
    environments: new Map(),
    projectsWith: new Map(),
    features: featureEntryIndex(),
    segments: new Map(),
    formerFeatures: new Map(),
    changes: recentChanges(),
    historyFrom: 0,
    removalsSincePrune: 0,
    revisedAt: 0,
    hydratesBelow: 0,
  };
}

/** Removes all entities and changes. */
function clearStoreContents(contents: StoreContents): void {
  const { environments, projectsWith, features, segments, formerFeatures, changes } = contents;
  for (const part of [environments, projectsWith, features, segments, formerFeatures, changes]) part.clear();
}

/** Maximum number of deleted entities that are retained for deltas: some 40 MiB. An SDK from before those gets the full state. */
const defaultMaxRemoved = 100_000;

/**
 * Everything that SDKs evaluate, in the memory of this process, as JSON text with the position of the outbox row that last changed it. It
 * is changed by outbox rows alone, in their order, so that every replica has the same at the same position.
 */
export function deliveryStore({
  maxRemoved = defaultMaxRemoved,
  lists = { find: () => undefined, maxIdsToSdks: 0 },
}: { readonly maxRemoved?: number; readonly lists?: ListSource } = {}) {
  const contents = emptyStoreContents(lists);
  const { environments, projectsWith, features, segments, formerFeatures, changes } = contents;
  let position = 0;
  /** the number of resets: whatever was derived before the newest one is invalid */
  let epoch = 0;
  /** whether the store was reset and has not yet applied every row that the producer had then */
  let isIncomplete = false;

  return {
    apply: (messages: Iterable<StoreMessage | OutboxMessage>, upTo: number, isComplete: boolean): void => {
      for (const message of messages) applyDeliveryRow(contents, message.position, message.payload as StoreRow);
      position = upTo;
      pruneRemovedEntities(contents, maxRemoved);
      if (!isIncomplete || !isComplete) return;
      contents.historyFrom = upTo;
      isIncomplete = false;
    },
    /**
     * Drops everything, after the producer was restored from a backup: the positions of later rows do not continue those of earlier ones.
     */
    reset: (): void => {
      clearStoreContents(contents);
      position = 0;
      contents.revisedAt = 0;
      isIncomplete = true;
      epoch++;
    },
    /**
     * Gives every scope the present position as its revision, whatever has changed in it: the revision then is that of whoever fills the store,
     * who may count changes that leave the entities as they were.
     */
    countAsChanged: (): void => {
      contents.revisedAt = position;
    },
    /**
     * Lets clients with a revision below this one get the full state: it may be of a history that is lost, although the present one has
     * changes with the same revisions.
     */
    hydrateBelow: (revision: number): void => {
      contents.hydratesBelow = revision;
    },
    get hydratesBelow() {
      return contents.hydratesBelow;
    },
    get revisedAt() {
      return contents.revisedAt;
    },
    get epoch() {
      return epoch;
    },
    get historyFrom() {
      return contents.historyFrom;
    },
    /** False from a reset until every row that the producer had at the reset is applied: until then the state is partial. */
    get isComplete() {
      return !isIncomplete;
    },
    get position() {
      return position;
    },
    hasEnvironment: (name: string): boolean => environments.has(name),
    /**
     * The environment of a request: that of its token, else the requested one. Without a name, or with `default` where no environment is
     * called that, it is the first enabled one. Undefined where there is no such environment.
     */
    environmentOf: (caller: Caller, requested = 'default'): string | undefined => {
      const environment = boundEnvironment(caller) ?? requested;
      if (environments.has(environment)) return environment;
      if (boundEnvironment(caller) !== undefined || requested !== 'default') return undefined;
      const [first] = [...environments.values()]
        .filter(({ enabled }) => enabled)
        .sort((one, other) => one.sortOrder - other.sortOrder || compareNames(one.name, other.name));
      return first?.name;
    },
    feature: (name: string): FeatureEntry | undefined => features.get(name),
    segment: (id: number): SegmentEntry | undefined => segments.get(id),
    segments: (): Iterable<SegmentEntry> => segments.values(),
    /** The roots of the lists that segments have, or had so short a while ago that edges may ask for their blocks. */
    listRoots: (): ReadonlySet<string> => {
      const roots = new Set<string>();
      const now = (lists.now ?? Date.now)();
      for (const segment of segments.values()) {
        if (segment.list !== undefined) roots.add(segment.list.root);
        if (segment.formerLists.length === 0) continue;
        segment.formerLists = segment.formerLists.filter(({ until }) => until > now);
        for (const { root } of segment.formerLists) roots.add(root);
      }
      return roots;
    },
    /** Gives up the lists that segments had, where the memory is needed. */
    dropFormerLists: (): void => {
      for (const segment of segments.values()) segment.formerLists = [];
    },
    formerFeatures: (): Iterable<FormerFeature> => formerFeatures.values(),
    /** The features in the order of their names. */
    features: (): Iterable<FeatureEntry> => features.inOrderOfNames(),
    /** The changes after a position, oldest first; undefined where they are no longer retained. */
    changesAfter: (after: number): readonly EntityChange[] | undefined => changes.after(after),
    /** What SDKs evaluate of a feature in an environment; the empty part where its project does not have the environment. */
    partOf: (feature: FeatureEntry, environment: string): EnvironmentPart => {
      const part = partIn(feature, environment);
      return part !== undefined && projectsWith.get(environment)?.has(feature.project) === true ? part : emptyPart;
    },
    /** The position of the row that last changed what SDKs evaluate of a feature in an environment. */
    positionOf: (feature: FeatureEntry, environment: string): number =>
      Math.max(feature.position, partIn(feature, environment)?.position ?? 0),
  };
}
export type DeliveryStore = ReturnType<typeof deliveryStore>;
