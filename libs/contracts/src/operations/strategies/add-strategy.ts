import { CreateStrategyBody, FeatureStrategy } from '../../model/strategies/strategy.ts';
import { defineOperation } from '../../operation.ts';
import { FeatureEnvironmentPath } from '../paths.ts';

/** Adds a strategy to a feature in an environment. Emits `feature-strategy-add`. */
export const AddStrategy = defineOperation({
  subject: 'call.features.add-strategy',
  operationId: 'addFeatureStrategy',
  summary: 'Add a strategy to a feature',
  description: 'Adds a strategy to a feature in an environment. It does not enable the feature there.',
  tag: 'Features',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies',
  },
  ifMatch: 'feature environment',
  permission: 'CREATE_FEATURE_STRATEGY',
  params: FeatureEnvironmentPath,
  body: CreateStrategyBody,
  reply: FeatureStrategy,
  errors: ['ValidationError', 'ExceedsLimitError', 'NotFoundError'],
});
