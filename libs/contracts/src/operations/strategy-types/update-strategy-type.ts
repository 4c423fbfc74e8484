import { UpdateStrategyTypeBody } from '../../model/strategies/strategy-type.ts';
import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Updates a strategy type. Emits `strategy-updated`. */
export const UpdateStrategyType = defineOperation({
  subject: 'call.features.update-strategy-type',
  operationId: 'updateStrategy',
  summary: 'Update a strategy type',
  description: 'Changes the description, the title or the parameters of a strategy type that was added.',
  tag: 'Strategies',
  http: { method: 'PUT', url: '/api/admin/strategies/:name' },
  permission: 'UPDATE_STRATEGY',
  params: NamePath,
  body: UpdateStrategyTypeBody,
  errors: ['ValidationError', 'NotFoundError', 'OperationDeniedError'],
});
