import { defineOperation } from '../../operation.ts';
import { RolePath } from '../paths.ts';

/** Deletes a role. Emits `role-deleted`. */
export const DeleteRole = defineOperation({
  subject: 'call.gateway.delete-role',
  operationId: 'deleteRole',
  summary: 'Delete a role',
  description: 'Deletes a custom role that is not assigned.',
  tag: 'Roles',
  http: { method: 'DELETE', url: '/api/admin/roles/:id', anyContentType: true },
  permission: 'ADMIN',
  params: RolePath,
  errors: ['NotFoundError', 'InvalidOperationError', 'ConflictError'],
});
