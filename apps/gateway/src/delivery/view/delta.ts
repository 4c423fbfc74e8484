import { LRUCache } from 'lru-cache';
import { compress, type Encoding } from '../../http/response/compression.ts';
import type { FeatureBlock } from './feature-blocks.ts';
import { compressList, type FeatureList, listBytes } from './feature-list.ts';
import { type ByEncoding, makeOnce } from './make-once.ts';

/** The events for an SDK that has all changes up to a revision. */
export interface Delta {
  /** the `eventId` of the last event */
  readonly revision: number;
  /** `{"events":[…]}` */
  readonly body: Buffer;
  /** the body as a list of features, for a delta that is the full state */
  readonly list?: FeatureList;
  /** the compressed body, in each encoding made when it is first requested */
  readonly encoded: ByEncoding<Buffer>;
}

/** Maximum bytes of the deltas that a scope caches: most are small, and clients reconnect with many different revisions. */
const maxDeltaBytes = 4 * 1024 * 1024;
/** Estimated bytes of a cached delta besides its body. */
const deltaOverheadBytes = 200;

/** A cache of the deltas after each revision; undefined where nothing has changed after it. */
export const deltaCache = () =>
  new LRUCache<number, { readonly delta: Delta | undefined }>({
    maxSize: maxDeltaBytes,
    // Twice the body: its compressed copies are at most as long.
    sizeCalculation: ({ delta }) => deltaOverheadBytes + 2 * (delta?.body.length ?? 0),
  });

/**
 * The full state as one event.
 * @param segments the segments as a JSON list without its brackets
 */
export const hydrationAt = (revision: number, blocks: readonly FeatureBlock[], segments: string): Delta => {
  const list = {
    blocks,
    jsonPrefix: `{"events":[{"type":"hydration","eventId":${revision},"features":[`,
    jsonSuffix: `],"segments":[${segments}]}]}`,
  };
  return { revision, body: listBytes(list), list, encoded: {} };
};

/**
 * The body of a delta in an encoding.
 * @param onMade called when the body was compressed
 */
export const encodeDelta = (
  { body, list, encoded }: Delta,
  encoding: Encoding,
  onMade: () => void,
): Buffer | Promise<Buffer> => {
  if (encoding === 'identity') return body;
  const make = () => (list === undefined ? compress(body, encoding) : compressList(list, encoding));
  return makeOnce(encoded, encoding, make, onMade);
};
