import { VariantListBody, Variants } from '../../model/features/variant.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Sets the variants of a feature in every environment. */
export const SetFeatureVariants = defineOperation({
  subject: 'call.features.set-feature-variants',
  operationId: 'overwriteFeatureVariants',
  summary: 'Set the variants of a feature in every environment',
  description: 'Replaces the variants in all environments of the project.',
  tag: 'Features',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/features/:featureName/variants' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE_VARIANTS',
  params: ProjectFeaturePath,
  body: VariantListBody,
  reply: Variants,
  errors: ['ValidationError', 'NotFoundError'],
  deprecated: true,
});
