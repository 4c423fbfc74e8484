import { defineOperation } from '../../operation.ts';
import { FeatureEnvironmentPath } from '../paths.ts';

/** Turns a feature off in an environment. Emits `feature-environment-disabled`, if it was not off already. */
export const DisableFeature = defineOperation({
  subject: 'call.features.disable-feature',
  operationId: 'toggleFeatureEnvironmentOff',
  summary: 'Disable a feature in an environment',
  description: 'Disables a feature in an environment. Its strategies stay as they are.',
  tag: 'Features',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/off',
    anyContentType: true,
  },
  ifMatch: 'feature environment',
  permission: 'UPDATE_FEATURE_ENVIRONMENT',
  params: FeatureEnvironmentPath,
  errors: ['ArchivedFeatureError', 'NotFoundError'],
});
