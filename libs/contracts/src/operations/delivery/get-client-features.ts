import { ClientFeatures, ClientFeaturesQuery } from '../../model/client-feature.ts';
import { defineOperation } from '../../operation.ts';

/** Reads all that an SDK evaluates. */
export const GetClientFeatures = defineOperation({
  subject: 'call.features.get-client-features',
  operationId: 'getAllClientFeatures',
  summary: 'Get the features for an SDK',
  description:
    'Returns what an SDK evaluates: the features that are not archived, as they are in the environment of the token, in the projects of the token. Sent again with the ETag as `If-None-Match` it costs next to nothing until something changes.',
  tag: 'Client',
  http: { method: 'GET', url: '/api/client/features', headers: { clientSpec: 'Unleash-Client-Spec' } },
  permission: 'CLIENT',
  query: ClientFeaturesQuery,
  reply: ClientFeatures,
  hasOwnTag: true,
  errors: ['ValidationError'],
});
