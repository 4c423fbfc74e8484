import { implement } from '@bunting/bus';
import { EvaluateFrontendFeatures } from '@bunting/contracts';
import { contextFieldsOfBody, frontendFeatures } from '@bunting/evaluation';
import { authorise } from '../authorise.ts';
import { deliveryEnvironment } from './delivery-environment.ts';
import type { FeaturesContext } from '../context.ts';

export const evaluateFrontendFeaturesEndpoint = ({ evaluatorCache, findApplicationEnvironment }: FeaturesContext) =>
  implement(EvaluateFrontendFeatures, async ({ caller, body, query, now }) => {
    const requested = body.context?.['environment'];
    const named = typeof requested === 'string' ? requested : undefined;
    const environment = await deliveryEnvironment(findApplicationEnvironment, caller, named);
    authorise(caller, EvaluateFrontendFeatures.permission, { environment });
    const evaluator = await evaluatorCache(caller, environment);
    const fields = contextFieldsOfBody(body, environment, query.callerAddress);
    return frontendFeatures(evaluator, { fields, now, random: Math.random });
  });
