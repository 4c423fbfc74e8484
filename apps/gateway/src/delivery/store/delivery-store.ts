import { type Caller, boundEnvironment, type DeliveryState, type OutboxMessage } from '@bunting/contracts';
import { applyDeliveryRow } from './apply-rows.ts';
import { clearStoreContents, emptyStoreContents } from './store-contents.ts';
import { emptyPart, type EnvironmentPart, type FeatureEntry } from './feature-entries.ts';
import { compareNames } from './feature-entry-index.ts';
import { pruneRemovedEntities } from './prune-removed-entities.ts';
import type { EntityChange } from './recent-changes.ts';
import type { FormerFeature, SegmentEntry } from './stored-entities.ts';

/** Maximum number of deleted entities that are retained for deltas: some 40 MiB. An SDK from before those gets the full state. */
const defaultMaxRemoved = 100_000;

/**
 * Everything that SDKs evaluate, in the memory of this process, as JSON text with the position of the outbox row that last changed it. It
 * is changed by outbox rows alone, in their order, so that every replica has the same at the same position.
 */
export const deliveryStore = ({ maxRemoved = defaultMaxRemoved }: { readonly maxRemoved?: number } = {}) => {
  const contents = emptyStoreContents();
  const { environments, projectsWith, features, segments, formerFeatures, changes } = contents;
  let position = 0;
  /** the number of resets: whatever was derived before the newest one is invalid */
  let epoch = 0;
  /** whether the store was reset and has not yet applied every row that the producer had then */
  let isIncomplete = false;

  return {
    apply: (messages: readonly OutboxMessage[], upTo: number, isComplete: boolean): void => {
      for (const message of messages) applyDeliveryRow(contents, message.position, message.payload as DeliveryState);
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
      isIncomplete = true;
      epoch++;
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
    formerFeatures: (): Iterable<FormerFeature> => formerFeatures.values(),
    /** The features in the order of their names. */
    features: (): Iterable<FeatureEntry> => features.inOrderOfNames(),
    /** The changes after a position, oldest first; undefined where they are no longer retained. */
    changesAfter: (after: number): readonly EntityChange[] | undefined => changes.after(after),
    /** What SDKs evaluate of a feature in an environment; the empty part where its project does not have the environment. */
    partOf: (feature: FeatureEntry, environment: string): EnvironmentPart => {
      const part = feature.parts.get(environment);
      return part !== undefined && projectsWith.get(environment)?.has(feature.project) === true ? part : emptyPart;
    },
    /** The position of the row that last changed what SDKs evaluate of a feature in an environment. */
    positionOf: (feature: FeatureEntry, environment: string): number =>
      Math.max(feature.position, feature.parts.get(environment)?.position ?? 0),
  };
};
export type DeliveryStore = ReturnType<typeof deliveryStore>;
