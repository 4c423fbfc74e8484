import type { Endpoint } from '@bunting/bus';
import type { ApplicationEnvironments } from '../persistence/application-environments.ts';
import type { ClientFeaturesReader } from '../persistence/client-features-reader.ts';
import { deliveriesOf } from './delivery/deliveries.ts';
import { evaluateFrontendFeaturesEndpoint } from './delivery/evaluate-frontend-features.ts';
import { evaluationsOf } from './delivery/evaluations.ts';
import { getClientFeatureEndpoint } from './delivery/get-client-feature.ts';
import { getClientFeaturesEndpoint } from './delivery/get-client-features.ts';
import { getFrontendFeaturesEndpoint } from './delivery/get-frontend-features.ts';

/**
 * What SDKs are given, and what is evaluated for those that are given no more than the outcome.
 * @param mostKept how many characters of answers are kept
 */
export const deliveryEndpoints = (
  clients: ClientFeaturesReader,
  environments: ApplicationEnvironments,
  mostKept: number,
): readonly Endpoint[] => {
  const deliveries = deliveriesOf(clients, mostKept);
  const evaluations = evaluationsOf(deliveries);
  return [
    getClientFeaturesEndpoint(deliveries, environments),
    getClientFeatureEndpoint(clients, environments),
    getFrontendFeaturesEndpoint(evaluations, environments),
    evaluateFrontendFeaturesEndpoint(evaluations, environments),
  ];
};
