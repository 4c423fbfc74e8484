import { FeatureNamesBody } from '../../model/features/feature.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Archives features. Emits `feature-archived` for each, after `feature-dependencies-removed` when it had any. */
export const ArchiveFeatures = defineOperation({
  subject: 'call.features.archive-features',
  operationId: 'archiveFeatures',
  summary: 'Archive features',
  description: 'Archives features of a project, all or none.',
  tag: 'Archive',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/archive', status: 202, takesLong: true },
  permission: 'DELETE_FEATURE',
  params: ProjectPath,
  body: FeatureNamesBody,
  errors: ['ValidationError', 'InvalidOperationError'],
});
