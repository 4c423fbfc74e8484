import { implement } from '@bunting/bus';
import { GetFrontendFeatures } from '@bunting/contracts';
import { contextFieldsOfQuery, frontendFeatures } from '@bunting/evaluation';
import { authorise } from '../authorise.ts';
import { deliveryEnvironment } from './delivery-environment.ts';
import type { FeaturesContext } from '../context.ts';

export const getFrontendFeaturesEndpoint = ({ evaluatorCache, findApplicationEnvironment }: FeaturesContext) =>
  implement(GetFrontendFeatures, async ({ caller, query, now }) => {
    const environment = await deliveryEnvironment(findApplicationEnvironment, caller, query.environment);
    authorise(caller, GetFrontendFeatures.permission, { environment });
    const evaluator = await evaluatorCache(caller, environment);
    return frontendFeatures(evaluator, { fields: contextFieldsOfQuery(query, environment), now, random: Math.random });
  });
