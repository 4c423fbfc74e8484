import { CompleteFeatureBody } from '../../model/features/lifecycle.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Marks a feature as completed. Emits `feature-completed`. */
export const CompleteFeature = defineOperation({
  subject: 'call.features.complete-feature',
  operationId: 'complete',
  summary: 'Mark a feature as completed',
  description: 'Marks a feature as completed, and whether it is kept or discarded.',
  tag: 'Features',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/features/:featureName/lifecycle/complete' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  params: ProjectFeaturePath,
  body: CompleteFeatureBody,
  errors: ['ValidationError', 'NotFoundError'],
});
