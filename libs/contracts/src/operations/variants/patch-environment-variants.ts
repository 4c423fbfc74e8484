import { JsonPatch } from '../../model/json-patch.ts';
import { Variants } from '../../model/features/variant.ts';
import { defineOperation } from '../../operation.ts';
import { FeatureEnvironmentPath } from '../paths.ts';

/** Patches the variants of a feature in an environment. */
export const PatchEnvironmentVariants = defineOperation({
  subject: 'call.features.patch-environment-variants',
  operationId: 'patchEnvironmentsFeatureVariants',
  summary: 'Patch the variants of a feature in an environment',
  description: 'Applies JSON patch operations to the list of variants.',
  tag: 'Features',
  http: {
    method: 'PATCH',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/variants',
  },
  ifMatch: 'feature environment',
  permission: 'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
  params: FeatureEnvironmentPath,
  body: JsonPatch,
  reply: Variants,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError'],
});
