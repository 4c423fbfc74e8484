import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Deprecate a strategy type. Emits `strategy-deprecated`. */
export const DeprecateStrategyType = defineOperation({
  subject: 'call.features.deprecate-strategy-type',
  operationId: 'deprecateStrategy',
  summary: 'Deprecate a strategy type',
  description: 'It stays where it is used, and is not offered any more.',
  tag: 'Strategies',
  http: { method: 'POST', url: '/api/admin/strategies/:name/deprecate', anyContentType: true },
  permission: 'UPDATE_STRATEGY',
  params: NamePath,
  errors: ['NotFoundError', 'OperationDeniedError'],
});
