import { FeatureNamesBody } from '../../model/feature.ts';
import { ActivationQuery } from '../../model/feature-environment.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectEnvironmentPath } from '../paths.ts';

/** Enable features in an environment. Emits `feature-environment-enabled` for each that was not, after what happened to its strategies. */
export const EnableFeaturesInBulk = defineOperation({
  subject: 'call.features.enable-features-in-bulk',
  operationId: 'bulkToggleFeaturesEnvironmentOn',
  summary: 'Enable features in an environment',
  description: 'Enables several features of a project in an environment, all or none.',
  tag: 'Features',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/bulk_features/environments/:environment/on' },
  permission: 'UPDATE_FEATURE_ENVIRONMENT',
  params: ProjectEnvironmentPath,
  query: ActivationQuery,
  body: FeatureNamesBody,
  errors: ['ValidationError', 'NotFoundError', 'ArchivedFeatureError'],
});
