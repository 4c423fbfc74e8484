import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Undoes the completion of a feature. Emits `feature-uncompleted`. */
export const UncompleteFeature = defineOperation({
  subject: 'call.features.uncomplete-feature',
  operationId: 'uncomplete',
  summary: 'Revert the completion of a feature',
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
