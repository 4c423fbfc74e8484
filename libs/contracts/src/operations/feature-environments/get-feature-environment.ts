import { FeatureEnvironmentReply } from '../../model/features/feature-environment.ts';
import { defineOperation } from '../../operation.ts';
import { FeatureEnvironmentPath } from '../paths.ts';

/** Reads a feature in an environment. */
export const GetFeatureEnvironment = defineOperation({
  subject: 'call.features.get-feature-environment',
  operationId: 'getFeatureEnvironment',
  summary: 'Get a feature in an environment',
  description: 'Returns whether the feature is enabled in the environment, and its strategies.',
  tag: 'Features',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment' },
  permission: 'authenticated',
  params: FeatureEnvironmentPath,
  reply: FeatureEnvironmentReply,
  errors: ['NotFoundError'],
});
