import { FeatureNamesBody } from '../../model/features/feature.ts';
import { ActivationQuery } from '../../model/features/feature-environment.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectEnvironmentPath } from '../paths.ts';

/** Disables features in an environment. Emits `feature-environment-disabled` for each that was enabled. */
export const DisableFeatures = defineOperation({
  subject: 'call.features.disable-features',
  operationId: 'bulkToggleFeaturesEnvironmentOff',
  summary: 'Disable features in an environment',
  description: 'Disables several features of a project in an environment, all or none.',
  tag: 'Features',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/bulk_features/environments/:environment/off',
    takesLong: true,
  },
  permission: 'UPDATE_FEATURE_ENVIRONMENT',
  params: ProjectEnvironmentPath,
  query: ActivationQuery,
  body: FeatureNamesBody,
  errors: ['ValidationError', 'NotFoundError', 'ArchivedFeatureError'],
});
