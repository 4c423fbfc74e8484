import { NameBody } from '../../model/names.ts';
import { defineOperation } from '../../operation.ts';

/** Check a name for a context field. */
export const ValidateContextFieldName = defineOperation({
  subject: 'call.features.validate-context-field-name',
  operationId: 'validate',
  summary: 'Check a name for a context field',
  description: 'Says whether a context field of this name could be created.',
  tag: 'Context',
  http: { method: 'POST', url: '/api/admin/context/validate' },
  permission: 'authenticated',
  idempotent: true,
  body: NameBody,
  errors: ['ValidationError', 'NameExistsError'],
});
