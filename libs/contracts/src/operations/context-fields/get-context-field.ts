import { ContextField } from '../../model/strategies/context-field.ts';
import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Reads a context field. */
export const GetContextField = defineOperation({
  subject: 'call.features.get-context-field',
  operationId: 'getContextField',
  summary: 'Get a context field',
  description: 'Returns one context field.',
  tag: 'Context',
  http: { method: 'GET', url: '/api/admin/context/:name' },
  permission: 'authenticated',
  params: NamePath,
  reply: ContextField,
  errors: ['NotFoundError'],
});
