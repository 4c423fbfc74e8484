import { defineOperation } from '../../operation.ts';
import { LegalValuePath } from '../paths.ts';

/** Removes a legal value. Emits `context-field-updated`. */
export const RemoveLegalValue = defineOperation({
  subject: 'call.features.remove-legal-value',
  operationId: 'deleteContextFieldLegalValue',
  summary: 'Remove a legal value',
  description: 'Removes a legal value from a context field. An unknown value is no error.',
  tag: 'Context',
  http: { method: 'DELETE', url: '/api/admin/context/:name/legal-values/:value', anyContentType: true },
  permission: 'UPDATE_CONTEXT_FIELD',
  params: LegalValuePath,
  errors: ['NotFoundError'],
});
