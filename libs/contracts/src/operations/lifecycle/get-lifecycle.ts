import { LifecycleStages } from '../../model/features/lifecycle.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Reads the lifecycle of a feature. */
export const GetLifecycle = defineOperation({
  subject: 'call.features.get-lifecycle',
  operationId: 'getFeatureLifecycle',
  summary: 'Get the lifecycle of a feature',
  description: 'Returns the stages that the feature has entered, in order.',
  tag: 'Features',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features/:featureName/lifecycle' },
  permission: 'authenticated',
  params: ProjectFeaturePath,
  reply: LifecycleStages,
  errors: ['NotFoundError'],
});
