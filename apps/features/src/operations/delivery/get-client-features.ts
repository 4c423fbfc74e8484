import { implement, JsonText, notModified } from '@bunting/bus';
import { deliveryScope, GetClientFeatures } from '@bunting/contracts';
import { authorise } from '../authorise.ts';
import { deliveryEnvironment } from './delivery-environment.ts';
import type { FeaturesContext } from '../context.ts';

export const getClientFeaturesEndpoint = ({ clientFeaturesCache, findApplicationEnvironment }: FeaturesContext) =>
  implement(GetClientFeatures, async ({ caller, query, matchesIfNoneMatch, setHeader }) => {
    const environment = await deliveryEnvironment(findApplicationEnvironment, caller, query.environment);
    authorise(caller, GetClientFeatures.permission, { environment });
    const { tag, json } = await clientFeaturesCache(deliveryScope(caller, environment, query));
    setHeader('ETag', `"${tag}"`);
    return matchesIfNoneMatch(tag) ? notModified : new JsonText(json);
  });
