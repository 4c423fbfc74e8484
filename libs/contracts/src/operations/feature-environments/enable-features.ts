import { FeatureNamesBody } from '../../model/features/feature.ts';
import { ActivationQuery } from '../../model/features/feature-environment.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectEnvironmentPath } from '../paths.ts';

/** Enables features in an environment. Emits `feature-environment-enabled` for each that was disabled, after the events of its strategies. */
export const EnableFeatures = defineOperation({
  subject: 'call.features.enable-features',
  operationId: 'bulkToggleFeaturesEnvironmentOn',
  summary: 'Enable features in an environment',
  description: 'Enables several features of a project in an environment, all or none.',
  tag: 'Features',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/bulk_features/environments/:environment/on',
    takesLong: true,
  },
  permission: 'UPDATE_FEATURE_ENVIRONMENT',
  params: ProjectEnvironmentPath,
  query: ActivationQuery,
  body: FeatureNamesBody,
  errors: ['ValidationError', 'NotFoundError', 'ArchivedFeatureError'],
});
