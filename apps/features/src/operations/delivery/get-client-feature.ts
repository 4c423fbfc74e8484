import { implement, JsonText } from '@bunting/bus';
import { GetClientFeature, notFound } from '@bunting/contracts';
import { deliveredTo, noSuchDeliveryEnvironment } from '../../domain/delivery.ts';
import { named } from '../../domain/refusals.ts';
import type { ClientFeaturesReader } from '../../persistence/client-features-reader.ts';
import { authorise } from '../authorise.ts';

export const getClientFeatureEndpoint = (clients: ClientFeaturesReader) =>
  implement(GetClientFeature, async ({ caller, params, query }) => {
    const wanted = deliveredTo(caller, query);
    authorise(caller, GetClientFeature.permission, { environment: wanted.environment });
    const json = await clients.one(params.featureName, wanted);
    if (json === undefined) throw noSuchDeliveryEnvironment(wanted.environment);
    if (json === null) throw notFound(`Could not find feature flag ${named(params.featureName)}`);
    return new JsonText(json);
  });
