import { StrategyType } from '../../model/strategies/strategy-type.ts';
import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Reads a strategy type. */
export const GetStrategyType = defineOperation({
  subject: 'call.features.get-strategy-type',
  operationId: 'getStrategy',
  summary: 'Get a strategy type',
  description: 'Returns one strategy type.',
  tag: 'Strategies',
  http: { method: 'GET', url: '/api/admin/strategies/:name' },
  permission: 'authenticated',
  params: NamePath,
  reply: StrategyType,
  errors: ['NotFoundError'],
});
