import { CallerAddressQuery, FrontendBody, FrontendFeatures } from '../../model/sdks/frontend-feature.ts';
import { defineOperation } from '../../operation.ts';

/** Evaluates all features for one user. The context is in the body, since URLs are logged and limited in length. */
export const EvaluateFrontendFeatures = defineOperation({
  subject: 'call.gateway.evaluate-frontend-features',
  operationId: 'getFrontendFeaturesWithPost',
  summary: 'Evaluate the features for the context in the body',
  description: 'Returns the enabled features of a user, with their variants. Nothing is stored.',
  tag: 'Frontend API',
  http: { method: 'POST', url: '/api/frontend', address: 'callerAddress', dropsUnusableNames: true },
  readsOnly: true,
  respondsFromMemory: true,
  permission: 'FRONTEND',
  query: CallerAddressQuery,
  body: FrontendBody,
  reply: FrontendFeatures,
  errors: ['ValidationError'],
});
