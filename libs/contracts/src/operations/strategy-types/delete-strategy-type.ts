import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Deletes a strategy type. Emits `strategy-deleted`. */
export const DeleteStrategyType = defineOperation({
  subject: 'call.features.delete-strategy-type',
  operationId: 'removeStrategy',
  summary: 'Delete a strategy type',
  description: 'Removes a strategy type that was added.',
  tag: 'Strategies',
  http: { method: 'DELETE', url: '/api/admin/strategies/:name', anyContentType: true },
  permission: 'DELETE_STRATEGY',
  params: NamePath,
  errors: ['NotFoundError', 'OperationDeniedError', 'ConflictError'],
});
