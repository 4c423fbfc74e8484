import { defineOperation } from '../../operation.ts';
import { FeatureLinkPath } from '../paths.ts';

/** Removes a link from a feature. Emits `feature-link-removed`. */
export const RemoveFeatureLink = defineOperation({
  subject: 'call.features.remove-feature-link',
  operationId: 'deleteFeatureLink',
  summary: 'Remove a link from a feature',
  tag: 'Features',
  http: {
    method: 'DELETE',
    url: '/api/admin/projects/:projectId/features/:featureName/link/:linkId',
    status: 204,
    anyContentType: true,
  },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  params: FeatureLinkPath,
  errors: ['NotFoundError'],
});
