import { JsonPatch } from '../../model/json-patch.ts';
import { FeatureStrategy } from '../../model/strategies/strategy.ts';
import { defineOperation } from '../../operation.ts';
import { StrategyPath } from '../paths.ts';

/** Changes selected properties of one strategy. Emits `feature-strategy-update`. */
export const PatchStrategy = defineOperation({
  subject: 'call.features.patch-strategy',
  operationId: 'patchFeatureStrategy',
  summary: 'Update specific properties of a strategy',
  description:
    'Changes specific properties of one strategy of a feature in an environment. The steps of the patch are applied one after the other, all of them or none.',
  tag: 'Features',
  http: {
    method: 'PATCH',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies/:strategyId',
  },
  ifMatch: 'strategy',
  permission: 'UPDATE_FEATURE_STRATEGY',
  params: StrategyPath,
  body: JsonPatch,
  reply: FeatureStrategy,
  errors: ['ValidationError', 'ExceedsLimitError', 'NotFoundError'],
});
