import { AddDependencyBody } from '../../model/feature.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Make a feature depend on another. Emits `feature-dependency-added`, after `feature-dependency-removed` when another parent is replaced. */
export const AddDependency = defineOperation({
  subject: 'call.features.add-dependency',
  operationId: 'addFeatureDependency',
  summary: 'Make a feature depend on another',
  description: 'A feature has one parent at most: another one takes its place.',
  tag: 'Dependencies',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/features/:featureName/dependencies' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE_DEPENDENCY',
  params: ProjectFeaturePath,
  body: AddDependencyBody,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError'],
});
