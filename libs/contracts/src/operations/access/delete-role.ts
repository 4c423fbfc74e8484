import { defineOperation } from '../../operation.ts';
import { RolePath } from '../paths.ts';

/** Delete a role. Tells `role-deleted`. */
export const DeleteRole = defineOperation({
  subject: 'call.gateway.delete-role',
  operationId: 'deleteRole',
  summary: 'Delete a role',
  description: 'Deletes a role that was made here and that nobody has.',
  tag: 'Roles',
  http: { method: 'DELETE', url: '/api/admin/roles/:id', anyContentType: true },
  permission: 'ADMIN',
  params: RolePath,
  errors: ['NotFoundError', 'InvalidOperationError', 'ConflictError'],
});
