import { defineOperation } from '../../operation.ts';
import { FeatureTagPath } from '../paths.ts';

/** Removes a tag from a feature. Emits `feature-untagged`, if the tag was there. */
export const RemoveFeatureTag = defineOperation({
  subject: 'call.features.remove-feature-tag',
  operationId: 'removeTag',
  summary: 'Remove a tag from a feature',
  description: 'Removes a tag from a feature. The response is the same if the feature does not have the tag.',
  tag: 'Features',
  http: {
    method: 'DELETE',
    url: '/api/admin/features/:featureName/tags/:type/:value',
    anyContentType: true,
  },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  params: FeatureTagPath,
  errors: ['NotFoundError'],
});
