import { FeatureNamesBody } from '../../model/features/feature.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Revives features. Emits `feature-revived` for each. */
export const ReviveFeatures = defineOperation({
  subject: 'call.features.revive-features',
  operationId: 'reviveFeatures',
  summary: 'Revive features',
  description: 'Brings archived features of a project back, disabled in every environment.',
  tag: 'Archive',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/revive', anyContentType: true, takesLong: true },
  permission: 'UPDATE_FEATURE',
  params: ProjectPath,
  body: FeatureNamesBody,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError', 'InvalidOperationError', 'ExceedsLimitError'],
});
