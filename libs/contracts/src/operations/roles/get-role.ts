import { RoleWithPermissions } from '../../model/access/role.ts';
import { defineOperation } from '../../operation.ts';
import { RolePath } from '../paths.ts';

/** Reads a role. */
export const GetRole = defineOperation({
  subject: 'call.gateway.get-role',
  operationId: 'getRoleById',
  summary: 'Get a role',
  description: 'Returns a role with its permissions.',
  tag: 'Roles',
  http: { method: 'GET', url: '/api/admin/roles/:id' },
  permission: ['READ_ROLE', 'UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  params: RolePath,
  reply: RoleWithPermissions,
  errors: ['NotFoundError'],
});
