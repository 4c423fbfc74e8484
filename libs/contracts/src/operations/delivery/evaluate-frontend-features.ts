import { CallerQuery, FrontendBody, FrontendFeatures } from '../../model/frontend-feature.ts';
import { defineOperation } from '../../operation.ts';

/** Evaluates all features for one user, whose context is too private or too large for an address. */
export const EvaluateFrontendFeatures = defineOperation({
  subject: 'call.gateway.evaluate-frontend-features',
  operationId: 'getFrontendFeaturesWithPost',
  summary: 'Evaluate the features for a user, whose context is in the body',
  description: 'Returns the features that are on for a user, with their variants. It changes nothing.',
  tag: 'Frontend API',
  http: { method: 'POST', url: '/api/frontend', address: 'callerAddress' },
  idempotent: true,
  permission: 'FRONTEND',
  query: CallerQuery,
  body: FrontendBody,
  reply: FrontendFeatures,
  errors: ['ValidationError'],
});
