import { FeatureStrategy } from '../../model/strategies/strategy.ts';
import { defineOperation } from '../../operation.ts';
import { StrategyPath } from '../paths.ts';

/** Reads a strategy. */
export const GetStrategy = defineOperation({
  subject: 'call.features.get-strategy',
  operationId: 'getFeatureStrategy',
  summary: 'Get a strategy',
  description: 'Returns one strategy of a feature in an environment.',
  tag: 'Features',
  http: {
    method: 'GET',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies/:strategyId',
  },
  permission: 'authenticated',
  params: StrategyPath,
  reply: FeatureStrategy,
  errors: ['NotFoundError'],
});
