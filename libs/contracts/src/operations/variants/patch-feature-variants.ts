import { JsonPatch } from '../../model/json-patch.ts';
import { Variants } from '../../model/features/variant.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Patches the variants of a feature in every environment. */
export const PatchFeatureVariants = defineOperation({
  subject: 'call.features.patch-feature-variants',
  operationId: 'patchFeatureVariants',
  summary: 'Patch the variants of a feature in every environment',
  description: 'Applies JSON patch operations to the list of variants of each environment.',
  tag: 'Features',
  http: { method: 'PATCH', url: '/api/admin/projects/:projectId/features/:featureName/variants' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE_VARIANTS',
  params: ProjectFeaturePath,
  body: JsonPatch,
  reply: Variants,
  errors: ['ValidationError', 'NotFoundError'],
  deprecated: true,
});
