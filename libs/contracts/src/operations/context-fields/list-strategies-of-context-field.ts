import { ContextFieldStrategies } from '../../model/strategies/context-field.ts';
import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Lists the strategies that use a context field. */
export const ListStrategiesOfContextField = defineOperation({
  subject: 'call.features.list-strategies-of-context-field',
  operationId: 'getStrategiesByContextField',
  summary: 'List the strategies that use a context field',
  description: 'Returns the strategies that use a context field.',
  tag: 'Context',
  http: { method: 'GET', url: '/api/admin/context/:name/strategies' },
  isHeavy: true,
  permission: 'authenticated',
  params: NamePath,
  reply: ContextFieldStrategies,
  errors: ['NotFoundError'],
});
