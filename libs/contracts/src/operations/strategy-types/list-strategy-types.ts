import { StrategyTypes } from '../../model/strategies/strategy-type.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the strategy types. */
export const ListStrategyTypes = defineOperation({
  subject: 'call.features.list-strategy-types',
  operationId: 'getAllStrategies',
  summary: 'List the strategy types',
  description: 'Returns the built-in strategy types and those that were added.',
  tag: 'Strategies',
  http: { method: 'GET', url: '/api/admin/strategies' },
  permission: 'authenticated',
  reply: StrategyTypes,
});
