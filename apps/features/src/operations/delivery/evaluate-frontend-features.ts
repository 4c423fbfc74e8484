import { implement } from '@bunting/bus';
import { EvaluateFrontendFeatures } from '@bunting/contracts';
import { environmentFor } from '../../domain/application-token.ts';
import { contextOfBody, frontendFeatures } from '../../domain/evaluation/frontend.ts';
import { authorise } from '../authorise.ts';
import type { Evaluations } from './evaluations.ts';

export const evaluateFrontendFeaturesEndpoint = (evaluations: Evaluations) =>
  implement(EvaluateFrontendFeatures, async ({ caller, body, query, now }) => {
    const asked = body.context?.['environment'];
    const named = typeof asked === 'string' ? asked : undefined;
    authorise(caller, EvaluateFrontendFeatures.permission, { environment: environmentFor(caller, named) });
    const { environment, evaluator } = await evaluations(caller, named);
    const context = contextOfBody(body, environment, query.callerAddress);
    return frontendFeatures(evaluator, { context, now, random: Math.random });
  });
