import { StrategyPositions } from '../../model/strategy.ts';
import { defineOperation } from '../../operation.ts';
import { FeatureEnvironmentPath } from '../paths.ts';

/** Set the order of strategies. Emits `strategy-order-changed`. */
export const SetStrategyOrder = defineOperation({
  subject: 'call.features.set-strategy-order',
  operationId: 'setStrategySortOrder',
  summary: 'Set the order of strategies',
  description: 'Gives strategies of a feature in an environment their places.',
  tag: 'Features',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies/set-sort-order',
  },
  ifMatch: 'feature environment',
  permission: 'UPDATE_FEATURE_STRATEGY',
  params: FeatureEnvironmentPath,
  body: StrategyPositions,
  errors: ['ValidationError', 'NotFoundError'],
});
