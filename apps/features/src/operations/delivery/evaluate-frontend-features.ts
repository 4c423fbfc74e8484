import { implement } from '@bunting/bus';
import { EvaluateFrontendFeatures } from '@bunting/contracts';
import { contextOfBody, frontendFeatures } from '../../domain/evaluation/frontend.ts';
import { authorise } from '../authorise.ts';
import { deliveryEnvironment } from './delivery-environment.ts';
import type { FeaturesContext } from '../context.ts';

export const evaluateFrontendFeaturesEndpoint = ({
  evaluations,
  applicationEnvironments: environments,
}: FeaturesContext) =>
  implement(EvaluateFrontendFeatures, async ({ caller, body, query, now }) => {
    const request = body.context?.['environment'];
    const named = typeof request === 'string' ? request : undefined;
    const environment = await deliveryEnvironment(environments, caller, named);
    authorise(caller, EvaluateFrontendFeatures.permission, { environment });
    const evaluator = await evaluations(caller, environment);
    const context = contextOfBody(body, environment, query.callerAddress);
    return frontendFeatures(evaluator, { context, now, random: Math.random });
  });
