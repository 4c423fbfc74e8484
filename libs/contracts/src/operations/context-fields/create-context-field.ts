import { ContextField, CreateContextFieldBody } from '../../model/strategies/context-field.ts';
import { defineOperation } from '../../operation.ts';

/** Creates a context field. Emits `context-field-created`. */
export const CreateContextField = defineOperation({
  subject: 'call.features.create-context-field',
  operationId: 'createContextField',
  summary: 'Create a context field',
  description: 'Adds a field that constraints may use.',
  tag: 'Context',
  http: {
    method: 'POST',
    url: '/api/admin/context',
    status: 201,
    location: ({ body }: { body: { name: string } }) => `context/${encodeURIComponent(body.name)}`,
  },
  permission: 'CREATE_CONTEXT_FIELD',
  body: CreateContextFieldBody,
  reply: ContextField,
  errors: ['ValidationError', 'NameExistsError'],
});
