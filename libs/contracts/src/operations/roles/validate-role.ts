import { ValidateRoleBody } from '../../model/access.ts';
import { defineOperation } from '../../operation.ts';

/** Check the name of a role. */
export const ValidateRole = defineOperation({
  subject: 'call.gateway.validate-role',
  operationId: 'validateRole',
  summary: 'Check the name of a role',
  description: 'Says whether a role could have the name.',
  tag: 'Roles',
  http: { method: 'POST', url: '/api/admin/roles/validate' },
  permission: 'ADMIN',
  idempotent: true,
  body: ValidateRoleBody,
  errors: ['ValidationError', 'NameExistsError'],
});
