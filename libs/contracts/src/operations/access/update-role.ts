import { SavedRole, UpdateRoleBody } from '../../model/access.ts';
import { defineOperation } from '../../operation.ts';
import { RolePath } from '../paths.ts';

/** Change a role. Tells `role-updated`. */
export const UpdateRole = defineOperation({
  subject: 'call.gateway.update-role',
  operationId: 'updateRole',
  summary: 'Change a role',
  description: 'Changes a role that was made here. Whoever has it gains and loses rights at once.',
  tag: 'Roles',
  http: { method: 'PUT', url: '/api/admin/roles/:id' },
  permission: 'ADMIN',
  params: RolePath,
  body: UpdateRoleBody,
  reply: SavedRole,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError', 'NameExistsError'],
});
