import { ValidateNameBody } from '../../model/validate-name-body.ts';
import { defineOperation } from '../../operation.ts';

/** Checks a name for an environment. */
export const ValidateEnvironmentName = defineOperation({
  subject: 'call.features.validate-environment-name',
  operationId: 'validateEnvironmentName',
  summary: 'Validate the name of an environment',
  description: 'Validates the name of a new environment. Nothing is stored.',
  tag: 'Environments',
  http: { method: 'POST', url: '/api/admin/environments/validate' },
  permission: 'ADMIN',
  readsOnly: true,
  body: ValidateNameBody,
  errors: ['ValidationError', 'NameExistsError'],
});
