import { FrontendFeatures, FrontendQuery } from '../../model/sdks/frontend-feature.ts';
import { defineOperation } from '../../operation.ts';

/** Evaluates all features for one user. */
export const GetFrontendFeatures = defineOperation({
  subject: 'call.gateway.get-frontend-features',
  operationId: 'getFrontendFeatures',
  summary: 'Evaluate the features for a user',
  description:
    'Returns the enabled features of a user, with their variants, for browsers and apps, without the rules. Every parameter of the query is a field of the context, as it is or as `properties[<field>]`.',
  tag: 'Frontend API',
  http: { method: 'GET', url: '/api/frontend', address: 'callerAddress' },
  respondsFromMemory: true,
  permission: 'FRONTEND',
  query: FrontendQuery,
  reply: FrontendFeatures,
  errors: ['ValidationError'],
});
