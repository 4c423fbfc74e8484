import { implement } from '@bunting/bus';
import { GetFrontendFeatures } from '@bunting/contracts';
import { environmentFor } from '../../domain/application-token.ts';
import { contextOfQuery, frontendFeatures } from '../../domain/evaluation/frontend.ts';
import { authorise } from '../authorise.ts';
import type { Evaluations } from './evaluations.ts';

export const getFrontendFeaturesEndpoint = (evaluations: Evaluations) =>
  implement(GetFrontendFeatures, async ({ caller, query, now }) => {
    authorise(caller, GetFrontendFeatures.permission, { environment: environmentFor(caller, query.environment) });
    const { environment, evaluator } = await evaluations(caller, query.environment);
    return frontendFeatures(evaluator, { context: contextOfQuery(query, environment), now, random: Math.random });
  });
