import { Variants } from '../../model/features/variant.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Reads the variants of a feature. */
export const GetFeatureVariants = defineOperation({
  subject: 'call.features.get-feature-variants',
  operationId: 'getFeatureVariants',
  summary: 'Get the variants of a feature',
  description: 'Returns the variants of the first environment that has any.',
  tag: 'Features',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features/:featureName/variants' },
  permission: 'authenticated',
  params: ProjectFeaturePath,
  reply: Variants,
  errors: ['NotFoundError'],
  deprecated: true,
});
