import { RoleWithPermissions } from '../../model/access.ts';
import { defineOperation } from '../../operation.ts';
import { RolePath } from '../paths.ts';

/** Read a role. */
export const GetRole = defineOperation({
  subject: 'call.gateway.get-role',
  operationId: 'getRoleById',
  summary: 'Read a role',
  description: 'Returns a role with what it gives.',
  tag: 'Roles',
  http: { method: 'GET', url: '/api/admin/roles/:id' },
  permission: ['READ_ROLE', 'UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  params: RolePath,
  reply: RoleWithPermissions,
  errors: ['NotFoundError'],
});
