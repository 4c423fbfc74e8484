import { ContextFields } from '../../model/strategies/context-field.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the context fields. */
export const ListContextFields = defineOperation({
  subject: 'call.features.list-context-fields',
  operationId: 'getContextFields',
  summary: 'List the context fields',
  description: 'Returns the context fields, by name.',
  tag: 'Context',
  http: { method: 'GET', url: '/api/admin/context' },
  isHeavy: true,
  permission: 'authenticated',
  reply: ContextFields,
});
