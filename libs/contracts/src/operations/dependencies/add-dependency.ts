import { AddDependencyBody } from '../../model/features/feature.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Makes a feature depend on another. Emits `feature-dependency-added`, after `feature-dependency-removed` when another parent is replaced. */
export const AddDependency = defineOperation({
  subject: 'call.features.add-dependency',
  operationId: 'addFeatureDependency',
  summary: 'Add a dependency',
  description: 'A feature has one parent at most: a new parent replaces the earlier one.',
  tag: 'Dependencies',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/features/:featureName/dependencies' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE_DEPENDENCY',
  params: ProjectFeaturePath,
  body: AddDependencyBody,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError'],
});
