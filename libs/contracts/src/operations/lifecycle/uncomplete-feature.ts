import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Take the completion of a feature back. Emits `feature-uncompleted`. */
export const UncompleteFeature = defineOperation({
  subject: 'call.features.uncomplete-feature',
  operationId: 'uncomplete',
  summary: 'Take the completion of a feature back',
  description: 'Returns the feature to the stage that it was in before.',
  tag: 'Features',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/features/:featureName/lifecycle/uncomplete',
    anyContentType: true,
  },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  params: ProjectFeaturePath,
  errors: ['NotFoundError'],
});
