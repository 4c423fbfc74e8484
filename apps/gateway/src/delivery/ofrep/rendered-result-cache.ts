import type { EvaluableFeature, Resolution, Variant } from '@bunting/evaluation';
import { ofrepResult, type OfrepResult } from './ofrep-result.ts';

interface RenderedResult {
  readonly result: OfrepResult;
  readonly json: string;
}

/** A cache of the results of evaluations with their JSON: a feature has few different ones. */
export const renderedResultCache = () => {
  /**
   * by feature, then by variant (the object, since two strategies may use one name with different payloads), then by the rest of the
   * outcome: whether the feature is on, whether a targeting key is missing, and the reason
   */
  const cache = new WeakMap<EvaluableFeature, Map<Variant, Map<string, RenderedResult>>>();

  return (resolution: Resolution): RenderedResult => {
    const { feature, enabled, variant, reason, needsTargetingKey } = resolution;
    let variants = cache.get(feature);
    if (variants === undefined) cache.set(feature, (variants = new Map()));
    let results = variants.get(variant);
    if (results === undefined) variants.set(variant, (results = new Map()));
    const outcome = `${enabled} ${needsTargetingKey} ${reason}`;
    const cached = results.get(outcome);
    if (cached !== undefined) return cached;
    const result = ofrepResult(resolution);
    const rendered = { result, json: JSON.stringify(result) };
    results.set(outcome, rendered);
    return rendered;
  };
};
