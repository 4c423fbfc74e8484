import { implement, JsonText, notModified } from '@bunting/bus';
import { GetClientFeatures } from '@bunting/contracts';
import { deliveredTo } from '../../domain/delivery.ts';
import { authorise } from '../authorise.ts';
import type { Deliveries } from './deliveries.ts';

export const getClientFeaturesEndpoint = (deliveries: Deliveries) =>
  implement(GetClientFeatures, async ({ caller, query, isKnown, say }) => {
    const wanted = deliveredTo(caller, query);
    authorise(caller, GetClientFeatures.permission, { environment: wanted.environment });
    const { tag, json } = await deliveries(wanted);
    say('ETag', `"${tag}"`);
    return isKnown(tag) ? notModified : new JsonText(json);
  });
