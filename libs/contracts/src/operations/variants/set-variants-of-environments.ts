import { Variants, VariantsBatchBody } from '../../model/features/variant.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Sets the variants of a feature in several environments. */
export const SetVariantsOfEnvironments = defineOperation({
  subject: 'call.features.set-variants-of-environments',
  operationId: 'overwriteFeatureVariantsOnEnvironments',
  summary: 'Set the variants of a feature in several environments',
  description: 'Replaces the variants in each of the environments.',
  tag: 'Features',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/features/:featureName/variants-batch' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
  params: ProjectFeaturePath,
  body: VariantsBatchBody,
  reply: Variants,
  errors: ['ValidationError', 'NotFoundError'],
});
