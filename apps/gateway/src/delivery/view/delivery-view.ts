import { type ClientStrategy, type DeliveryScope, describeScope } from '@bunting/contracts';
import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import { compress, type Encoding, entityTagSuffixOf, withoutEntityTagSuffix } from '../../http/response/compression.ts';
import { deltaAfter, type ScopeReader } from './delta-after.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { FeatureEntry } from '../store/feature-entry.ts';
import { updateFeatureBlocks, type FeatureBlock } from './feature-blocks.ts';
import { compressList, type FeatureList, listBytes, listLength } from './feature-list.ts';
import { scopeFilter } from './scope-filter.ts';
import { scopeRevision } from './scope-revision.ts';

/** A full response in one encoding. Each encoding has its own entity tag (RFC 9110, 8.8.3). */
export interface Representation {
  /** with its quotes */
  readonly etag: string;
  readonly encoding: Encoding;
  readonly body: Buffer;
}

/** The events for an SDK that has all changes up to a revision. */
export interface Delta {
  /** the `eventId` of the last event */
  readonly revision: number;
  /** `{"events":[…]}` */
  readonly body: Buffer;
  /** the body as a list of features, for a delta that is the full state */
  readonly list?: FeatureList;
  /** the compressed body by encoding, each made when it is first requested */
  readonly encoded: Partial<Record<Encoding, Buffer | Promise<Buffer>>>;
}

/** Maximum bytes of the deltas that a scope caches: most are small, and clients reconnect with many different revisions. */
const maxDeltaBytes = 4 * 1024 * 1024;
/** Estimated bytes of a cached delta besides its body. */
const deltaOverheadBytes = 200;
/** Estimated bytes of a cached view besides its bodies. */
const viewOverheadBytes = 1_000;

/** The entity tag of a full response, as `<hash of the scope>:<hash of the content>:<revision>`, without the suffix of its encoding. */
const responseEntityTagPattern = /^([0-9a-f]{8}):([0-9a-f]{32}):(\d{1,15})$/;

interface Content {
  readonly hash: string;
  /** the tag that all encodings share, without its quotes */
  readonly tag: string;
  /** the newest revision with this content */
  readonly revision: number;
  /** the revision at which this content was read from the store; it is part of the tag, and `meta` names it in every encoding */
  readonly madeAt: number;
  readonly length: number;
  readonly list: FeatureList;
  /** by encoding, each made when it is first requested */
  readonly representations: Partial<Record<Encoding, Representation | Promise<Representation>>>;
  /** the epoch of the store in which the revision counts */
  readonly epoch: number;
}

/** A part with the constraints of its segments in the strategies, for SDKs without support for segments. */
const withInlinedSegments = (json: string, store: DeliveryStore): string => {
  const part = JSON.parse(`{${json}}`) as { readonly strategies: readonly ClientStrategy[] };
  const strategies = part.strategies.map(({ segments = [], constraints, ...strategy }) => ({
    ...strategy,
    constraints: [
      ...constraints,
      ...segments.flatMap((id) => JSON.parse(`[${store.segment(id)?.constraints ?? ''}]`) as typeof constraints),
    ],
  }));
  return JSON.stringify({ ...part, strategies }).slice(1, -1);
};

/** Returns the cached value, or makes it once for all concurrent callers. A failure is not cached. */
const makeOnce = <T>(
  cache: Partial<Record<Encoding, T | Promise<T>>>,
  encoding: Encoding,
  make: () => Promise<T>,
  onMade: () => void,
): T | Promise<T> => {
  const cached = cache[encoding];
  if (cached !== undefined) return cached;
  const making = make();
  cache[encoding] = making;
  making.then(
    (value) => {
      cache[encoding] = value;
      onMade();
    },
    () => void delete cache[encoding],
  );
  return making;
};

/**
 * The state that one scope gets from the delivery store: its features, segments, full responses and deltas. A read first applies the
 * changes of the store. Changes that the scope cannot notice invalidate nothing, cached bytes included.
 * @param onResize called after the size of the cached bytes has changed
 */
export const deliveryView = (store: DeliveryStore, scope: DeliveryScope, onResize: () => void = () => undefined) => {
  const { environment, inlineSegments } = scope;
  const filter = scopeFilter(store, scope);
  const { isVisible, hasLeftScope, formerConcernsScope } = filter;
  const latest = scopeRevision(store, environment, filter);
  const { usedSegmentIds } = latest;
  const query = JSON.stringify(describeScope(scope));
  const queryHash = hash('sha256', query, 'hex').slice(0, 8);

  let content: Content | undefined;
  let blocks: readonly FeatureBlock[] = [];
  let hydration: Delta | undefined;
  const deltas = new LRUCache<number, { readonly delta: Delta | undefined }>({
    maxSize: maxDeltaBytes,
    // Twice the body: its compressed copies are at most as long.
    sizeCalculation: ({ delta }) => deltaOverheadBytes + 2 * (delta?.body.length ?? 0),
  });

  const update = (): void => {
    if (!latest.update()) return;
    hydration = undefined;
    deltas.clear();
  };

  const positionOf = (feature: FeatureEntry): number => store.positionOf(feature, environment);

  /** A feature as JSON, in pieces. */
  const piecesOf = (feature: FeatureEntry): readonly string[] => {
    const part = store.partOf(feature, environment);
    const isInlined = inlineSegments && part.segments.length > 0;
    return [feature.jsonPrefix, isInlined ? withInlinedSegments(part.json, store) : part.json, feature.jsonSuffix];
  };
  const jsonOf = (feature: FeatureEntry): string => piecesOf(feature).join('');

  /** The position of the newest change of what a client gets of a feature. */
  const newestOf = (feature: FeatureEntry): number =>
    inlineSegments
      ? store
          .partOf(feature, environment)
          .segments.reduce((newest, id) => Math.max(newest, store.segment(id)?.position ?? 0), positionOf(feature))
      : positionOf(feature);

  function* visibleFeatures(): Generator<FeatureEntry> {
    for (const feature of store.features()) if (isVisible(feature)) yield feature;
  }

  const featureBlocks = (): readonly FeatureBlock[] =>
    (blocks = updateFeatureBlocks(visibleFeatures(), blocks, { positionOf: newestOf, piecesOf }));

  /** The segments that the features use, as a JSON list without its brackets. */
  const segmentList = (): string =>
    [...usedSegmentIds()]
      .sort((one, other) => one - other)
      .flatMap((id) => store.segment(id)?.json ?? [])
      .join(',');

  const currentContent = (): Content => {
    update();
    if (content?.revision === latest.revision && content.epoch === latest.epoch) return content;
    const { revision, epoch } = latest;
    const segments = inlineSegments ? '' : `"segments":[${segmentList()}],`;
    const list = {
      blocks: featureBlocks(),
      jsonPrefix: '{"version":2,"features":[',
      jsonSuffix: `],${segments}"query":${query}`,
    };
    const hashes = list.blocks.map((block) => block.hash).join();
    const contentHash = hash('sha256', `${hashes} ${list.jsonSuffix}`, 'hex').slice(0, 32);
    // The content was changed and changed back: the cached representations are still right.
    if (content?.hash === contentHash) return (content = { ...content, revision, epoch, list });
    const tag = `${queryHash}:${contentHash}:${revision}`;
    const length = listLength(list);
    return (content = {
      hash: contentHash,
      tag,
      revision,
      madeAt: revision,
      length,
      list,
      epoch,
      representations: {},
    });
  };

  const represent = async ({ list, tag, madeAt }: Content, encoding: Encoding): Promise<Representation> => {
    const etag = `"${tag}${entityTagSuffixOf[encoding]}"`;
    const meta = JSON.stringify({ revisionId: madeAt, etag, queryHash });
    const listWithMeta = { ...list, jsonSuffix: `${list.jsonSuffix},"meta":${meta}}` };
    const body = encoding === 'identity' ? listBytes(listWithMeta) : await compressList(listWithMeta, encoding);
    return { etag, encoding, body };
  };

  const segmentIdsOf = (feature: FeatureEntry): readonly number[] => store.partOf(feature, environment).segments;
  const reader: ScopeReader = {
    positionOf,
    isVisible,
    hasLeftScope,
    formerConcernsScope,
    segmentIdsOf,
    usedSegmentIds,
    jsonOf,
  };

  const view = {
    scope,
    /** The newest revision that the scope can notice. */
    revision: (): number => {
      update();
      return latest.revision;
    },
    /** the length of the full response in bytes, before compression */
    get length(): number {
      return currentContent().length;
    },
    /** Whether a tag, of any encoding, is that of the current full response. */
    isCurrent: (tag: string): boolean => {
      const { tag: current, hash: currentHash } = currentContent();
      if (tag === current) return true;
      const [, scopeHashOfTag, contentHashOfTag] = responseEntityTagPattern.exec(withoutEntityTagSuffix(tag)) ?? [];
      return scopeHashOfTag === queryHash && contentHashOfTag === currentHash;
    },
    /** Whether a tag is from a replica that had applied later changes of the scope than this one has. */
    isLater: (tag: string): boolean => {
      const [, scopeHashOfTag, , position] = responseEntityTagPattern.exec(withoutEntityTagSuffix(tag)) ?? [];
      update();
      return scopeHashOfTag === queryHash && Number(position) > latest.revision;
    },
    etag: (encoding: Encoding): string => `"${currentContent().tag}${entityTagSuffixOf[encoding]}"`,
    /** The full response in an encoding, made once for each content. */
    full: (encoding: Encoding): Representation | Promise<Representation> => {
      const current = currentContent();
      return makeOnce(current.representations, encoding, () => represent(current, encoding), onResize);
    },
    /** The features of the scope, in the order of their names. */
    features: visibleFeatures,
    /** One feature of the scope. */
    find: (name: string): FeatureEntry | undefined => {
      const feature = store.feature(name);
      return feature === undefined || !isVisible(feature) ? undefined : feature;
    },
    /** One feature as JSON; undefined where the scope has none of that name. */
    featureJson: (name: string): string | undefined => {
      const feature = view.find(name);
      return feature === undefined ? undefined : jsonOf(feature);
    },
    /** The full state as one event. */
    hydration: (): Delta => {
      update();
      if (hydration !== undefined) return hydration;
      const { revision } = latest;
      const list = {
        blocks: featureBlocks(),
        jsonPrefix: `{"events":[{"type":"hydration","eventId":${revision},"features":[`,
        jsonSuffix: `],"segments":[${segmentList()}]}]}`,
      };
      hydration = { revision, body: listBytes(list), list, encoded: {} };
      onResize();
      return hydration;
    },
    /** The body of a delta in an encoding. */
    encode: ({ body, list, encoded }: Delta, encoding: Encoding): Buffer | Promise<Buffer> => {
      if (encoding === 'identity') return body;
      const make = () => (list === undefined ? compress(body, encoding) : compressList(list, encoding));
      return makeOnce(encoded, encoding, make, onResize);
    },
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
      let sum =
        viewOverheadBytes +
        (hydration?.body.length ?? 0) +
        blocks.reduce((total, { size }) => total + size, 0) +
        deltas.calculatedSize;
      // Promises of representations and bodies that are still being made count nothing.
      for (const cached of Object.values(content?.representations ?? {}))
        if ('body' in cached) sum += cached.body.length;
      for (const cached of Object.values(hydration?.encoded ?? {})) if (Buffer.isBuffer(cached)) sum += cached.length;
      return sum;
    },
  };
  return view;
};
export type DeliveryView = ReturnType<typeof deliveryView>;
