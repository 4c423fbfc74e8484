import { FeatureStrategy, UpdateStrategyBody } from '../../model/strategy.ts';
import { defineOperation } from '../../operation.ts';
import { StrategyPath } from '../paths.ts';

/** Update a strategy. Emits `feature-strategy-update`. */
export const UpdateStrategy = defineOperation({
  subject: 'call.features.update-strategy',
  operationId: 'updateFeatureStrategy',
  summary: 'Update a strategy',
  description: 'Replaces constraints and variants; what else the body leaves out stays as it is.',
  tag: 'Features',
  http: {
    method: 'PUT',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies/:strategyId',
  },
  ifMatch: 'strategy',
  permission: 'UPDATE_FEATURE_STRATEGY',
  params: StrategyPath,
  body: UpdateStrategyBody,
  reply: FeatureStrategy,
  errors: ['ValidationError', 'ExceedsLimitError', 'NotFoundError'],
});
