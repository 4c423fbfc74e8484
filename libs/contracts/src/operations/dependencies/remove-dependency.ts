import { defineOperation } from '../../operation.ts';
import { DependencyPath } from '../paths.ts';

/** Removes a dependency. Emits `feature-dependency-removed`. */
export const RemoveDependency = defineOperation({
  subject: 'call.features.remove-dependency',
  operationId: 'deleteFeatureDependency',
  summary: 'Remove a dependency',
  description: 'Removes the dependency on one parent.',
  tag: 'Dependencies',
  http: {
    method: 'DELETE',
    url: '/api/admin/projects/:projectId/features/:featureName/dependencies/:parent',
    anyContentType: true,
  },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE_DEPENDENCY',
  params: DependencyPath,
  errors: ['NotFoundError'],
});
