import { defineOperation } from '../../operation.ts';
import { FeaturePath } from '../paths.ts';

/** Deletes an archived feature for good. Emits `feature-deleted`. */
export const DeleteFeature = defineOperation({
  subject: 'call.features.delete-feature',
  operationId: 'deleteFeature',
  summary: 'Delete an archived feature for good',
  description: 'Deletes an archived feature; its name becomes free. One that is not archived stays.',
  tag: 'Archive',
  http: { method: 'DELETE', url: '/api/admin/archive/:featureName', anyContentType: true },
  permission: 'DELETE_FEATURE',
  params: FeaturePath,
  errors: ['NotFoundError'],
});
