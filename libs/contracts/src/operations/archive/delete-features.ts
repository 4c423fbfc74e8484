import { FeatureNamesBody } from '../../model/features/feature.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Deletes archived features for good. Emits `feature-deleted` for each. */
export const DeleteFeatures = defineOperation({
  subject: 'call.features.delete-features',
  operationId: 'deleteFeatures',
  summary: 'Delete archived features for good',
  description: 'Deletes the archived ones among the features that are named; their names become free.',
  tag: 'Archive',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/delete', anyContentType: true, takesLong: true },
  permission: 'DELETE_FEATURE',
  params: ProjectPath,
  body: FeatureNamesBody,
  errors: ['ValidationError', 'InvalidOperationError'],
});
