import { Type } from 'typebox';
import { ClientFeature, ClientFeaturesQuery } from '../../model/sdks/client-feature.ts';
import { defineOperation } from '../../operation.ts';
import { FeaturePath } from '../paths.ts';

const { project, environment } = ClientFeaturesQuery.properties;

/** Returns one feature in the form that SDKs evaluate. */
export const GetClientFeature = defineOperation({
  subject: 'call.gateway.get-client-feature',
  operationId: 'getClientFeature',
  summary: 'Get one feature for an SDK',
  description:
    'Returns a feature as an SDK evaluates it in the environment of the token. Its strategies carry the constraints of their segments themselves.',
  tag: 'Client',
  http: { method: 'GET', url: '/api/client/features/:featureName' },
  respondsFromMemory: true,
  permission: 'CLIENT',
  params: FeaturePath,
  query: Type.Object({ project, environment }),
  reply: ClientFeature,
  errors: ['ValidationError', 'NotFoundError'],
});
