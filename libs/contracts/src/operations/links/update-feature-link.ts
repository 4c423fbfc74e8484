import { FeatureLinkBody } from '../../model/features/feature-link.ts';
import { defineOperation } from '../../operation.ts';
import { FeatureLinkPath } from '../paths.ts';

/** Replaces a link of a feature. Emits `feature-link-updated`. */
export const UpdateFeatureLink = defineOperation({
  subject: 'call.features.update-feature-link',
  operationId: 'updateFeatureLink',
  summary: 'Update a link of a feature',
  description: 'Replaces the address and the title of a link.',
  tag: 'Features',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/features/:featureName/link/:linkId', status: 204 },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  params: FeatureLinkPath,
  body: FeatureLinkBody,
  errors: ['ValidationError', 'NotFoundError'],
});
