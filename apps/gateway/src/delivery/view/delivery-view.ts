import type { DeliveryScope } from '@bunting/contracts';
import { type Encoding, entityTagSuffixOf } from '../../http/response/compression.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { FeatureEntry } from '../store/feature-entries.ts';
import { type Delta, deltaCache, encodeDelta, hydrationAt } from './delta.ts';
import { deltaAfter } from './delta-after.ts';
import { updateFeatureBlocks, type FeatureBlock } from './feature-blocks.ts';
import {
  type FullContent,
  fullContentAt,
  parseResponseTag,
  represent,
  type Representation,
  scopeQueryOf,
} from './full-response.ts';
import { makeOnce } from './make-once.ts';
import { scopeFilter } from './scope-filter.ts';
import { scopeReader } from './scope-reader.ts';
import { deliveredPositions, evaluatedPositions, type ScopeRevision, scopeRevision } from './scope-revision.ts';

/** Estimated bytes of a cached view besides its bodies. */
const viewOverheadBytes = 1_000;

/** The size of the cached bytes of full responses. Promises of representations and bodies that are still being made count nothing. */
const cachedBytesOf = (content: FullContent | undefined, hydration: Delta | undefined): number => {
  let sum = hydration?.body.length ?? 0;
  for (const cached of Object.values(content?.representations ?? {})) if ('body' in cached) sum += cached.body.length;
  for (const cached of Object.values(hydration?.encoded ?? {})) if (Buffer.isBuffer(cached)) sum += cached.length;
  return sum;
};

/**
 * The state that one scope gets from the delivery store: its features, segments, full responses and deltas. A read first applies the
 * changes of the store. Changes that the scope cannot notice invalidate nothing, cached bytes included.
 * @param onResize called after the size of the cached bytes has changed
 */
export const deliveryView = (store: DeliveryStore, scope: DeliveryScope, onResize: () => void = () => undefined) => {
  const filter = scopeFilter(store, scope);
  const positions = deliveredPositions(store, scope, filter);
  const latest = scopeRevision(store, scope.environment, filter, positions);
  const reader = scopeReader(store, scope, filter, positions.ofFeature, latest);
  let evaluated: ScopeRevision | undefined;
  const query = scopeQueryOf(scope);
  let content: FullContent | undefined;
  let blocks: readonly FeatureBlock[] = [];
  let hydration: Delta | undefined;
  const deltas = deltaCache();

  const update = (): void => {
    if (!latest.update()) return;
    hydration = undefined;
    deltas.clear();
  };
  const featureBlocks = (): readonly FeatureBlock[] =>
    (blocks = updateFeatureBlocks(reader.visibleFeatures(), blocks, reader));

  const currentContent = (): FullContent => {
    update();
    if (content?.revision === latest.revision && content.epoch === latest.epoch) return content;
    const segments = scope.inlineSegments ? undefined : reader.segmentList();
    return (content = fullContentAt(latest, { blocks: featureBlocks(), segments }, query));
  };

  const view = {
    scope,
    /** The newest revision that the scope can notice. */
    revision: (): number => {
      update();
      return latest.revision;
    },
    /** The newest revision that may have changed a result for a user. */
    evaluatedRevision: (): number => {
      evaluated ??= scopeRevision(store, scope.environment, filter, evaluatedPositions(store, scope));
      evaluated.update();
      return evaluated.revision;
    },
    /** the length of the full response in bytes, before compression */
    get length(): number {
      return currentContent().length;
    },
    /** Whether a tag, of any encoding, is that of the current full response. */
    isCurrent: (tag: string): boolean => {
      const current = currentContent();
      if (tag === current.tag) return true;
      const { scopeHash, contentHash } = parseResponseTag(tag);
      return scopeHash === query.hash && contentHash === current.hash;
    },
    /** Whether a tag is from a replica that had applied later changes of the scope than this one has. */
    isLater: (tag: string): boolean => {
      const { scopeHash, revision } = parseResponseTag(tag);
      update();
      return scopeHash === query.hash && Number(revision) > latest.revision;
    },
    etag: (encoding: Encoding): string => `"${currentContent().tag}${entityTagSuffixOf[encoding]}"`,
    /** The full response in an encoding, made once for each content. */
    full: (encoding: Encoding): Representation | Promise<Representation> => {
      const current = currentContent();
      return makeOnce(current.representations, encoding, () => represent(current, query, encoding), onResize);
    },
    /** The features of the scope, in the order of their names. */
    features: reader.visibleFeatures,
    /** One feature of the scope. */
    find: (name: string): FeatureEntry | undefined => {
      const feature = store.feature(name);
      return feature === undefined || !reader.isVisible(feature) ? undefined : feature;
    },
    /** One feature as JSON; undefined where the scope has none of that name. */
    featureJson: (name: string): string | undefined => {
      const feature = view.find(name);
      return feature === undefined ? undefined : reader.jsonOf(feature);
    },
    /** The full state as one event. */
    hydration: (): Delta => {
      update();
      if (hydration !== undefined) return hydration;
      hydration = hydrationAt(latest.revision, featureBlocks(), reader.segmentList());
      onResize();
      return hydration;
    },
    /** The body of a delta in an encoding. */
    encode: (delta: Delta, encoding: Encoding): Buffer | Promise<Buffer> => encodeDelta(delta, encoding, onResize),
    /**
     * The changes after a client's revision; undefined where there are none, and the full state for a revision that no delta can begin at.
     * @param isBehind whether the producer may have committed more than the store has applied: a later revision then comes from another
     * replica, and there is nothing to send
     */
    since: (after: number, isBehind = false): Delta | undefined => {
      update();
      if (after > store.position && isBehind) return undefined;
      if (after < store.historyFrom || after > store.position) return view.hydration();
      if (after >= latest.revision) return undefined;
      const cached = deltas.get(after);
      if (cached !== undefined) return cached.delta;
      const changes = deltaAfter(after, store, reader);
      const delta = changes === undefined ? undefined : { ...changes, encoded: {} };
      deltas.set(after, { delta });
      onResize();
      return delta;
    },
    /** the size of all cached bytes */
    get bytes(): number {
      const blockBytes = blocks.reduce((total, { size }) => total + size, 0);
      return viewOverheadBytes + blockBytes + deltas.calculatedSize + cachedBytesOf(content, hydration);
    },
  };
  return view;
};
export type DeliveryView = ReturnType<typeof deliveryView>;
