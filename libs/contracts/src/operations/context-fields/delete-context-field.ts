import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Deletes a context field. Emits `context-field-deleted`. */
export const DeleteContextField = defineOperation({
  subject: 'call.features.delete-context-field',
  operationId: 'deleteContextField',
  summary: 'Delete a context field',
  description: 'Removes a context field that no strategy uses.',
  tag: 'Context',
  http: { method: 'DELETE', url: '/api/admin/context/:name', anyContentType: true },
  permission: 'DELETE_CONTEXT_FIELD',
  params: NamePath,
  errors: ['NotFoundError', 'ConflictError'],
});
