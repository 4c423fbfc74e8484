import { type EvaluationContext, observedContext } from '@bunting/evaluation';
import { LRUCache } from 'lru-cache';
import type { GzipPart } from '../../http/response/compression.ts';
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
