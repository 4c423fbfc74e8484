import { hash } from 'node:crypto';
import { type EvaluationContext, observedContext } from '@bunting/evaluation';
import { LRUCache } from 'lru-cache';
import type { GzipPart } from '@bunting/http';
import type { ViewEvaluation } from './evaluator-cache.ts';
import type { ByEncoding } from './full-response.ts';

/** What all features of a view are for one user. */
export interface EvaluationResult {
  /** the JSON of the results, or its beginning */
  readonly json: Buffer;
  /** a hash of the results, the same in every replica */
  readonly hash: string;
  /** the compressed JSON, in each encoding made when it is first requested */
  readonly encoded: ByEncoding<Buffer>;
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
  return { json, hash: hash('sha256', hashes, 'base64url').slice(0, 22) };
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
export type ResultCache = ReturnType<typeof resultCache>;
