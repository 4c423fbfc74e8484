import { SavedRole, UpdateRoleBody } from '../../model/access/role.ts';
import { defineOperation } from '../../operation.ts';
import { RolePath } from '../paths.ts';

/** Changes a role. Emits `role-updated`. */
export const UpdateRole = defineOperation({
  subject: 'call.gateway.update-role',
  operationId: 'updateRole',
  summary: 'Update a role',
  description: 'Changes a custom role. The permissions of its holders change immediately.',
  tag: 'Roles',
  http: { method: 'PUT', url: '/api/admin/roles/:id' },
  permission: 'ADMIN',
  params: RolePath,
  body: UpdateRoleBody,
  reply: SavedRole,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError', 'NameExistsError'],
});
