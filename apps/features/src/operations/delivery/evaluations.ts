import type { Caller, ClientFeatures } from '@bunting/contracts';
import { deliveredTo } from '../../domain/delivery.ts';
import { type Evaluator, evaluatorOf } from '../../domain/evaluation/evaluator.ts';
import type { Deliveries, Delivery } from './deliveries.ts';

/** Makes ready what an application may have evaluated: once, and then again only when something has changed. */
export type Evaluations = (caller: Caller, environment: string) => Promise<Evaluator>;

/** The same features that its server-side SDK would be given, evaluated here. */
export const evaluationsOf = (deliveries: Deliveries): Evaluations => {
  const ready = new WeakMap<Delivery, Evaluator>();
  return async (caller, environment) => {
    const delivery = await deliveries({ ...deliveredTo(caller, environment), inlineSegments: false });
    let evaluator = ready.get(delivery);
    if (evaluator === undefined) {
      const { features, segments = [] } = JSON.parse(delivery.json) as ClientFeatures;
      evaluator = evaluatorOf(features, segments);
      ready.set(delivery, evaluator);
    }
    return evaluator;
  };
};
