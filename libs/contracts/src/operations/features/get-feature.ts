import { Type } from 'typebox';
import { Feature } from '../../model/features/feature.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Reads one feature, if it belongs to the project. */
export const GetFeature = defineOperation({
  subject: 'call.features.get-feature',
  operationId: 'getFeature',
  summary: 'Get a feature',
  description: 'Returns the feature with its settings in every environment, if it belongs to the project.',
  tag: 'Features',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features/:featureName' },
  permission: 'authenticated',
  params: ProjectFeaturePath,
  query: Type.Object({
    variantEnvironments: Type.Optional(
      Type.String({ description: '`true` adds the variants of each environment; any other value is ignored' }),
    ),
  }),
  reply: Feature,
  errors: ['NotFoundError'],
});
