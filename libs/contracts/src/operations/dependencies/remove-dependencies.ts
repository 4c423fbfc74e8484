import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Removes all dependencies. Emits `feature-dependencies-removed`. */
export const RemoveDependencies = defineOperation({
  subject: 'call.features.remove-dependencies',
  operationId: 'deleteFeatureDependencies',
  summary: 'Remove all dependencies',
  description: 'Removes every dependency of a feature.',
  tag: 'Dependencies',
  http: {
    method: 'DELETE',
    url: '/api/admin/projects/:projectId/features/:featureName/dependencies',
    anyContentType: true,
  },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE_DEPENDENCY',
  params: ProjectFeaturePath,
  errors: ['NotFoundError'],
});
