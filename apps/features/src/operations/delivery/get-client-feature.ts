import { implement, JsonText } from '@bunting/bus';
import { deliveryScope, GetClientFeature, noSuchDeliveryEnvironment, notFound } from '@bunting/contracts';
import { shortName } from '../../domain/refusals.ts';
import { authorise } from '../authorise.ts';
import { deliveryEnvironment } from './delivery-environment.ts';
import type { FeaturesContext } from '../context.ts';

export const getClientFeatureEndpoint = ({ clientFeatures, findApplicationEnvironment }: FeaturesContext) =>
  implement(GetClientFeature, async ({ caller, params, query }) => {
    const environment = await deliveryEnvironment(findApplicationEnvironment, caller, query.environment);
    authorise(caller, GetClientFeature.permission, { environment });
    const json = await clientFeatures.one(params.featureName, deliveryScope(caller, environment, query));
    if (json === undefined) throw noSuchDeliveryEnvironment(environment);
    if (json === null) throw notFound(`Could not find feature flag ${shortName(params.featureName)}`);
    return new JsonText(json);
  });
