import { NameBody } from '../../model/names.ts';
import { defineOperation } from '../../operation.ts';

/** Check a name for an environment. */
export const ValidateEnvironmentName = defineOperation({
  subject: 'call.features.validate-environment-name',
  operationId: 'validateEnvironmentName',
  summary: 'Check a name for an environment',
  description: 'Says whether an environment of this name could be created.',
  tag: 'Environments',
  http: { method: 'POST', url: '/api/admin/environments/validate' },
  permission: 'ADMIN',
  idempotent: true,
  body: NameBody,
  errors: ['ValidationError', 'NameExistsError'],
});
