import { ValidateRoleBody } from '../../model/access/role.ts';
import { defineOperation } from '../../operation.ts';

/** Checks the name of a role. */
export const ValidateRole = defineOperation({
  subject: 'call.gateway.validate-role',
  operationId: 'validateRole',
  summary: 'Validate the name of a role',
  description: 'Validates the name of a role. Nothing is stored.',
  tag: 'Roles',
  http: { method: 'POST', url: '/api/admin/roles/validate' },
  permission: 'ADMIN',
  readsOnly: true,
  body: ValidateRoleBody,
  errors: ['ValidationError', 'NameExistsError'],
});
