import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Deprecates a strategy type. Emits `strategy-deprecated`. */
export const DeprecateStrategyType = defineOperation({
  subject: 'call.features.deprecate-strategy-type',
  operationId: 'deprecateStrategy',
  summary: 'Deprecate a strategy type',
  description: 'Deprecates a strategy type. Strategies that use it do not change; user interfaces no longer offer it.',
  tag: 'Strategies',
  http: { method: 'POST', url: '/api/admin/strategies/:name/deprecate', anyContentType: true },
  permission: 'UPDATE_STRATEGY',
  params: NamePath,
  errors: ['NotFoundError', 'OperationDeniedError'],
});
