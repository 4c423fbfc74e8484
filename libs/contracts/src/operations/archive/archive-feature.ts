import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Archives a feature. Emits `feature-archived`, after `feature-dependencies-removed` if it had any. */
export const ArchiveFeature = defineOperation({
  subject: 'call.features.archive-feature',
  operationId: 'archiveFeature',
  summary: 'Archive a feature',
  description: 'Archives a feature in every environment. It can be revived; its name stays reserved.',
  tag: 'Features',
  http: {
    method: 'DELETE',
    url: '/api/admin/projects/:projectId/features/:featureName',
    status: 202,
    anyContentType: true,
  },
  ifMatch: 'feature',
  permission: 'DELETE_FEATURE',
  params: ProjectFeaturePath,
  errors: ['InvalidOperationError', 'NotFoundError'],
});
