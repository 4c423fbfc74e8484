import { UpdateContextFieldBody } from '../../model/strategies/context-field.ts';
import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Updates a context field. Emits `context-field-updated`. */
export const UpdateContextField = defineOperation({
  subject: 'call.features.update-context-field',
  operationId: 'updateContextField',
  summary: 'Update a context field',
  description: 'Replaces the description, the legal values, the order and the stickiness of a context field.',
  tag: 'Context',
  http: { method: 'PUT', url: '/api/admin/context/:name' },
  permission: 'UPDATE_CONTEXT_FIELD',
  params: NamePath,
  body: UpdateContextFieldBody,
  errors: ['ValidationError', 'NotFoundError'],
});
