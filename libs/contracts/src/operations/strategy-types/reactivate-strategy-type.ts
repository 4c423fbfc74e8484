import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Reactivates a strategy type. Emits `strategy-reactivated`. */
export const ReactivateStrategyType = defineOperation({
  subject: 'call.features.reactivate-strategy-type',
  operationId: 'reactivateStrategy',
  summary: 'Reactivate a strategy type',
  description: 'Reverts the deprecation of a strategy type.',
  tag: 'Strategies',
  http: { method: 'POST', url: '/api/admin/strategies/:name/reactivate', anyContentType: true },
  permission: 'UPDATE_STRATEGY',
  params: NamePath,
  errors: ['NotFoundError'],
});
