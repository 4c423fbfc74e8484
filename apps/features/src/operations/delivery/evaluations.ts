import type { Caller, ClientFeatures } from '@bunting/contracts';
import { deliveredTo } from '../../domain/delivery.ts';
import { type Evaluator, evaluatorOf } from '../../domain/evaluation/evaluator.ts';
import type { Deliveries, Delivery } from './deliveries.ts';

/** What an application may have evaluated, and where. */
export interface Evaluation {
  readonly environment: string;
  readonly evaluator: Evaluator;
}

/** Makes ready what an application may have evaluated: once, and then again only when something has changed. */
export type Evaluations = (caller: Caller, environment: string | undefined) => Promise<Evaluation>;

/** The same features that its server-side SDK would be given, evaluated here. */
export const evaluationsOf = (deliveries: Deliveries): Evaluations => {
  const ready = new WeakMap<Delivery, Evaluator>();
  return async (caller, environment) => {
    const wanted = { ...deliveredTo(caller, { environment }), inlineSegments: false };
    const delivery = await deliveries(wanted);
    let evaluator = ready.get(delivery);
    if (evaluator === undefined) {
      const { features, segments = [] } = JSON.parse(delivery.json) as ClientFeatures;
      evaluator = evaluatorOf(features, segments);
      ready.set(delivery, evaluator);
    }
    return { environment: wanted.environment, evaluator };
  };
};
