import { defineOperation } from '../../operation.ts';
import { StrategyPath } from '../paths.ts';

/** Deletes a strategy. Emits `feature-strategy-remove`, after `feature-environment-disabled` when it was the last enabled one. */
export const DeleteStrategy = defineOperation({
  subject: 'call.features.delete-strategy',
  operationId: 'deleteFeatureStrategy',
  summary: 'Delete a strategy',
  description: 'Removes a strategy. When no enabled strategy is left, the feature is disabled in the environment.',
  tag: 'Features',
  http: {
    method: 'DELETE',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies/:strategyId',
    anyContentType: true,
  },
  ifMatch: 'strategy',
  permission: 'DELETE_FEATURE_STRATEGY',
  params: StrategyPath,
  errors: ['NotFoundError'],
});
