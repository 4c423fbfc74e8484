import { implement } from '@bunting/bus';
import { GetFrontendFeatures } from '@bunting/contracts';
import { contextOfQuery, frontendFeatures } from '../../domain/evaluation/frontend.ts';
import { authorise } from '../authorise.ts';
import { deliveryEnvironment } from './delivery-environment.ts';
import type { FeaturesContext } from '../context.ts';

export const getFrontendFeaturesEndpoint = ({ evaluations, applicationEnvironments: environments }: FeaturesContext) =>
  implement(GetFrontendFeatures, async ({ caller, query, now }) => {
    const environment = await deliveryEnvironment(environments, caller, query.environment);
    authorise(caller, GetFrontendFeatures.permission, { environment });
    const evaluator = await evaluations(caller, environment);
    return frontendFeatures(evaluator, { context: contextOfQuery(query, environment), now, random: Math.random });
  });
