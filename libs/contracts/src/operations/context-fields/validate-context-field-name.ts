import { ValidateNameBody } from '../../model/validate-name-body.ts';
import { defineOperation } from '../../operation.ts';

/** Checks a name for a context field. */
export const ValidateContextFieldName = defineOperation({
  subject: 'call.features.validate-context-field-name',
  operationId: 'validate',
  summary: 'Validate the name of a context field',
  description: 'Validates the name of a new context field. Nothing is stored.',
  tag: 'Context',
  http: { method: 'POST', url: '/api/admin/context/validate' },
  permission: 'authenticated',
  readsOnly: true,
  body: ValidateNameBody,
  errors: ['ValidationError', 'NameExistsError'],
});
