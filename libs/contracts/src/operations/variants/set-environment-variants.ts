import { VariantListBody, Variants } from '../../model/features/variant.ts';
import { defineOperation } from '../../operation.ts';
import { FeatureEnvironmentPath } from '../paths.ts';

/** Sets the variants of a feature in an environment. */
export const SetEnvironmentVariants = defineOperation({
  subject: 'call.features.set-environment-variants',
  operationId: 'overwriteEnvironmentFeatureVariants',
  summary: 'Set the variants of a feature in an environment',
  description: 'Replaces the variants. Weights of variable variants are computed.',
  tag: 'Features',
  http: {
    method: 'PUT',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/variants',
  },
  ifMatch: 'feature environment',
  permission: 'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
  params: FeatureEnvironmentPath,
  body: VariantListBody,
  reply: Variants,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError'],
});
