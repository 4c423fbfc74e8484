import { FeatureStrategy, UpdateStrategyBody } from '../../model/strategies/strategy.ts';
import { defineOperation } from '../../operation.ts';
import { StrategyPath } from '../paths.ts';

/**
 * Merges the body into a strategy, except constraints and variants, which are replaced. Emits `feature-strategy-update`, before
 * `feature-environment-disabled` when it disables the last enabled one.
 */
export const UpdateStrategy = defineOperation({
  subject: 'call.features.update-strategy',
  operationId: 'updateFeatureStrategy',
  summary: 'Update a strategy',
  description:
    'Updates the properties in the body, and the parameters in `parameters`; what is omitted, or null, does not change. Constraints and variants alone are always replaced: without them, a strategy has none.',
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
