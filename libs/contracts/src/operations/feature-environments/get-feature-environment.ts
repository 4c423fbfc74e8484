import { FeatureInEnvironment } from '../../model/feature-environment.ts';
import { defineOperation } from '../../operation.ts';
import { FeatureEnvironmentPath } from '../paths.ts';

/** Read a feature in an environment. */
export const GetFeatureEnvironment = defineOperation({
  subject: 'call.features.get-feature-environment',
  operationId: 'getFeatureEnvironment',
  summary: 'Read a feature in an environment',
  description: 'Returns whether the feature is enabled there, and its strategies.',
  tag: 'Features',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment' },
  permission: 'authenticated',
  params: FeatureEnvironmentPath,
  reply: FeatureInEnvironment,
  errors: ['NotFoundError'],
});
