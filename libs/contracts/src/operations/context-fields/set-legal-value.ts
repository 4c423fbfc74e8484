import { LegalValue } from '../../model/strategies/context-field.ts';
import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Sets a legal value. Emits `context-field-updated`. */
export const SetLegalValue = defineOperation({
  subject: 'call.features.set-legal-value',
  operationId: 'updateContextFieldLegalValue',
  summary: 'Set a legal value',
  description: 'Adds a legal value to a context field, or replaces the description of the one that has this value.',
  tag: 'Context',
  http: { method: 'POST', url: '/api/admin/context/:name/legal-values' },
  permission: 'UPDATE_CONTEXT_FIELD',
  params: NamePath,
  body: LegalValue,
  errors: ['ValidationError', 'NotFoundError', 'ExceedsLimitError'],
});
