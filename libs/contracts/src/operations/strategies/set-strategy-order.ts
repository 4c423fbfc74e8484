import { StrategyPositions } from '../../model/strategies/strategy.ts';
import { defineOperation } from '../../operation.ts';
import { FeatureEnvironmentPath } from '../paths.ts';

/** Sets the order of strategies. Emits `strategy-order-changed`. */
export const SetStrategyOrder = defineOperation({
  subject: 'call.features.set-strategy-order',
  operationId: 'setStrategySortOrder',
  summary: 'Set the order of strategies',
  description: 'Sets the positions of strategies of a feature in an environment.',
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
