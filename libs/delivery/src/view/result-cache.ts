import { hash } from 'node:crypto';
import {
  type ActiveFeature,
  activeInChunk,
  type EvaluationContext,
  type FeatureChunk,
  frontendFeature,
  observedContext,
} from '@bunting/evaluation';
import { LRUCache } from 'lru-cache';
import type { GzipPart } from '@bunting/http';
import type { ViewEvaluation } from './evaluator-cache.ts';
import type { ByEncoding } from './full-response.ts';

/** What all features of a view are for one user. */
export interface EvaluationResult {
  /** the JSON of the results, or its beginning */
  json: Buffer;
  /** a hash of the results, the same in every replica */
  readonly hash: string;
  /** the body of the response, in each encoding made when it is first requested: the JSON, with what `rest` adds */
  encoded: ByEncoding<Buffer>;
  /** what follows the JSON in `encoded`, where that is only its beginning */
  rest?: Buffer;
  /** the JSON as a part of a gzip stream, made when it is first requested */
  gzipPart?: Promise<GzipPart>;
}

/** One of the results, as JSON. */
export interface RenderedItem {
  readonly bytes: Buffer;
  /** 96 bits of a hash of the bytes: the hash of many results is made of theirs, without hashing all bytes */
  readonly hash: readonly [number, number, number];
}

export function renderItem(json: string): RenderedItem {
  const digest = hash('sha256', json, 'buffer');
  return { bytes: Buffer.from(json), hash: [digest.readInt32LE(0), digest.readInt32LE(4), digest.readInt32LE(8)] };
}

const comma = 0x2c;

/** A list of results as JSON. Bytes are copied: to join and encode as many texts takes longer. */
export function listOfItems(
  before: string,
  items: readonly RenderedItem[],
  after: string,
): Pick<EvaluationResult, 'json' | 'hash'> {
  let length = before.length + Math.max(0, items.length - 1) + after.length;
  for (const { bytes } of items) length += bytes.length;
  const json = Buffer.allocUnsafeSlow(length);
  const hashes = new Int32Array(3 * items.length);
  let offset = json.write(before);
  for (let nth = 0; nth < items.length; nth++) {
    const { bytes, hash: itemHash } = items[nth] as RenderedItem;
    if (nth > 0) json[offset++] = comma;
    json.set(bytes, offset);
    offset += bytes.length;
    for (let part = 0; part < 3; part++) hashes[3 * nth + part] = itemHash[part] as number;
  }
  json.write(after, offset);
  return { json, hash: hashOfItems(hashes) };
}

function hashOfItems(hashes: Int32Array): string {
  return hash('sha256', hashes, 'base64url').slice(0, 22);
}

/** What browsers get of a feature that is on. */
function renderActive(active: ActiveFeature): RenderedItem {
  return (active.derived ??= renderItem(JSON.stringify(frontendFeature(active)))) as RenderedItem;
}

/** The results for the simple features of a chunk, side by side: following references to as many objects takes most of the time. */
interface RenderedChunk {
  /** each after a comma */
  readonly bytes: Buffer;
  /** by index of a feature, where its result begins, and where the next one does */
  readonly starts: Uint32Array;
  /** by index of a feature, the three parts of the hash of its result */
  readonly hashes: Int32Array;
}

function renderChunk(chunk: FeatureChunk): RenderedChunk {
  const { simple } = chunk;
  const items = simple.map((nth) => renderItem(JSON.stringify(frontendFeature(activeInChunk(chunk, nth)))));
  const count = chunk.features.length;
  const bytes = Buffer.allocUnsafeSlow(items.reduce((sum, item) => sum + 1 + item.bytes.length, 0));
  const starts = new Uint32Array(count + 1);
  const hashes = new Int32Array(3 * count);
  let offset = 0;
  for (const [nth, item] of items.entries()) {
    const feature = simple[nth] as number;
    starts[feature] = offset;
    bytes[offset++] = comma;
    bytes.set(item.bytes, offset);
    offset += item.bytes.length;
    starts[feature + 1] = offset;
    hashes.set(item.hash, 3 * feature);
  }
  return { bytes, starts, hashes };
}

const renderedChunks = new WeakMap<FeatureChunk, RenderedChunk>();

function renderedChunkOf(chunk: FeatureChunk): RenderedChunk {
  let rendered = renderedChunks.get(chunk);
  if (rendered === undefined) renderedChunks.set(chunk, (rendered = renderChunk(chunk)));
  return rendered;
}

/** Where lists are made, one at a time, before their length is known. It grows to the longest, without new memory for each. */
let room = { json: Buffer.allocUnsafeSlow(16 * 1024), hashes: new Int32Array(512) };

/** What browsers get: all features that are on for a context, as JSON. */
export function activeList(
  { visitActive }: Pick<ViewEvaluation, 'visitActive'>,
  context: EvaluationContext,
): Pick<EvaluationResult, 'json' | 'hash'> {
  const [before, after] = ['{"toggles":[', ']}'];
  let { json, hashes } = room;
  let [offset, count] = [json.write(before), 0];
  /** Makes room for further bytes, and for a hash. */
  const reserve = (length: number): void => {
    if (offset + length + after.length > json.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (json.length + length));
      larger.set(json.subarray(0, offset));
      json = larger;
    }
    if (3 * count + 3 > hashes.length) {
      const more = new Int32Array(2 * hashes.length);
      more.set(hashes);
      hashes = more;
    }
  };
  let [chunkNow, rendered]: [FeatureChunk | undefined, RenderedChunk | undefined] = [undefined, undefined];
  visitActive(context, {
    simple: (chunk, nth) => {
      if (chunk !== chunkNow || rendered === undefined) [chunkNow, rendered] = [chunk, renderedChunkOf(chunk)];
      const { bytes, starts, hashes: ofFeatures } = rendered;
      const start = (starts[nth] as number) + (count === 0 ? 1 : 0);
      const end = starts[nth + 1] as number;
      reserve(end - start);
      offset += bytes.copy(json, offset, start, end);
      for (let part = 0; part < 3; part++) hashes[3 * count + part] = ofFeatures[3 * nth + part] as number;
      count++;
    },
    other: (active) => {
      const { bytes, hash: itemHash } = renderActive(active);
      reserve(1 + bytes.length);
      if (count > 0) json[offset++] = comma;
      json.set(bytes, offset);
      offset += bytes.length;
      for (let part = 0; part < 3; part++) hashes[3 * count + part] = itemHash[part] as number;
      count++;
    },
  });
  offset += json.write(after, offset);
  room = { json, hashes };
  return { json: Buffer.from(json.subarray(0, offset)), hash: hashOfItems(hashes.subarray(0, 3 * count)) };
}

interface CachedResult {
  readonly result: EvaluationResult;
  /** the times, in milliseconds since 1970, from and before which it holds */
  readonly from: number;
  readonly until: number;
}

/** Estimated bytes of a cached result besides its key and its texts. */
const overheadBytes = 500;
/** The maximum length of the fields of a context whose result is cached; users choose them. */
const maxFieldsLength = 2_000;

/**
 * Caches the results of evaluations by view and context, until the view changes. What depends on chance is never cached, and what depends on
 * the time only until another time would change it.
 */
export function resultCache(maxBytes: number) {
  const cache = new LRUCache<string, CachedResult>({
    maxSize: maxBytes,
    // Twice the JSON: its compressed copies are together hardly longer.
    sizeCalculation: ({ result }, key) => overheadBytes + 2 * (key.length + result.json.length),
  });

  /** @param kind of the results, for one user and one view: each is cached by itself */
  return (
    kind: 'frontend' | 'ofrep',
    evaluation: ViewEvaluation,
    context: EvaluationContext,
    evaluate: (context: EvaluationContext) => Pick<EvaluationResult, 'json' | 'hash'>,
  ): EvaluationResult => {
    const fields = JSON.stringify([...context.fields]);
    const key = `${kind} ${evaluation.id} ${fields}`;
    const from = context.now.getTime();
    const cached = cache.get(key);
    if (cached !== undefined && cached.from <= from && from < cached.until) return cached.result;
    const observed = observedContext(context);
    const result = { ...evaluate(observed), encoded: {} };
    const until = observed.holdsUntil();
    if (fields.length <= maxFieldsLength && from < until) cache.set(key, { result, from, until });
    return result;
  };
}
