import { FeatureStrategies } from '../../model/strategies/strategy.ts';
import { defineOperation } from '../../operation.ts';
import { FeatureEnvironmentPath } from '../paths.ts';

/** Lists the strategies of a feature in an environment. */
export const ListStrategies = defineOperation({
  subject: 'call.features.list-strategies',
  operationId: 'getFeatureStrategies',
  summary: 'List the strategies of a feature in an environment',
  description: 'Returns the strategies in their order.',
  tag: 'Features',
  http: {
    method: 'GET',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies',
  },
  permission: 'authenticated',
  params: FeatureEnvironmentPath,
  reply: FeatureStrategies,
  errors: ['NotFoundError'],
});
