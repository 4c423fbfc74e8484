import { ClientFeatures, ClientFeaturesQuery } from '../../model/sdks/client-feature.ts';
import { defineOperation } from '../../operation.ts';

/** Returns the features and segments that the token gives access to, in the form that SDKs evaluate. */
export const GetClientFeatures = defineOperation({
  subject: 'call.gateway.get-client-features',
  operationId: 'getAllClientFeatures',
  summary: 'Get the features for an SDK',
  description:
    'Returns the features that an SDK evaluates: those that are not archived, in the environment and the projects of the token. Repeat the request with the ETag as `If-None-Match`: 304 until something changes.',
  tag: 'Client',
  http: { method: 'GET', url: '/api/client/features', headers: { clientSpec: 'Unleash-Client-Spec' } },
  respondsFromMemory: true,
  permission: 'CLIENT',
  query: ClientFeaturesQuery,
  reply: ClientFeatures,
  setsEntityTag: true,
  errors: ['ValidationError'],
});
