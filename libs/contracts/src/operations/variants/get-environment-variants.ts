import { Variants } from '../../model/features/variant.ts';
import { defineOperation } from '../../operation.ts';
import { FeatureEnvironmentPath } from '../paths.ts';

/** Reads the variants of a feature in an environment. */
export const GetEnvironmentVariants = defineOperation({
  subject: 'call.features.get-environment-variants',
  operationId: 'getEnvironmentFeatureVariants',
  summary: 'Get the variants of a feature in an environment',
  description: 'Returns the variants, by name.',
  tag: 'Features',
  http: {
    method: 'GET',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/variants',
  },
  permission: 'authenticated',
  params: FeatureEnvironmentPath,
  reply: Variants,
  errors: ['NotFoundError'],
});
