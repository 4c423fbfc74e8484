import { FeatureWithoutEnvironments, UpdateFeatureBody } from '../../model/features/feature.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Updates a feature. Emits `feature-metadata-updated`. */
export const UpdateFeature = defineOperation({
  subject: 'call.features.update-feature',
  operationId: 'updateFeature',
  summary: 'Update a feature',
  description: 'Updates the properties in the body. Omitted properties do not change. It neither archives nor revives.',
  tag: 'Features',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/features/:featureName' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  params: ProjectFeaturePath,
  body: UpdateFeatureBody,
  reply: FeatureWithoutEnvironments,
  errors: ['ValidationError', 'NotFoundError'],
});
