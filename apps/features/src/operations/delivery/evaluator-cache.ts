import { type Caller, type ClientFeatures, deliveryScope } from '@bunting/contracts';
import { type Evaluator, evaluatorOf } from '@bunting/evaluation';
import type { ClientFeaturesCache, CachedClientFeatures } from './client-features-cache.ts';

/** Returns the evaluator of the features that a server-side SDK with the same token would receive. */
type EvaluatorCache = (caller: Caller, environment: string) => Promise<Evaluator>;

/** Caches one evaluator for each cached reply. */
export const evaluatorCache = (clientFeaturesCache: ClientFeaturesCache): EvaluatorCache => {
  const ready = new WeakMap<CachedClientFeatures, Evaluator>();
  return async (caller, environment) => {
    const delivery = await clientFeaturesCache({ ...deliveryScope(caller, environment), inlineSegments: false });
    let evaluator = ready.get(delivery);
    if (evaluator === undefined) {
      const { features, segments = [] } = JSON.parse(delivery.json) as ClientFeatures;
      evaluator = evaluatorOf(features, segments);
      ready.set(delivery, evaluator);
    }
    return evaluator;
  };
};
