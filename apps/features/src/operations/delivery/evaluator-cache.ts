import type { Caller, ClientFeatures } from '@bunting/contracts';
import { deliveredTo } from '../../domain/delivery.ts';
import { type Evaluator, evaluatorOf } from '@bunting/evaluation';
import type { ClientFeaturesCache, CachedClientFeatures } from './client-features-cache.ts';

/** Makes ready what an application may have evaluated: once, and then again only when something has changed. */
export type EvaluatorCache = (caller: Caller, environment: string) => Promise<Evaluator>;

/** The same features that its server-side SDK would be given, evaluated here. */
export const evaluatorCache = (clientFeaturesCache: ClientFeaturesCache): EvaluatorCache => {
  const ready = new WeakMap<CachedClientFeatures, Evaluator>();
  return async (caller, environment) => {
    const delivery = await clientFeaturesCache({ ...deliveredTo(caller, environment), inlineSegments: false });
    let evaluator = ready.get(delivery);
    if (evaluator === undefined) {
      const { features, segments = [] } = JSON.parse(delivery.json) as ClientFeatures;
      evaluator = evaluatorOf(features, segments);
      ready.set(delivery, evaluator);
    }
    return evaluator;
  };
};
