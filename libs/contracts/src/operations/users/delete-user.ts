import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Deletes a user. Emits `user-deleted`. */
export const DeleteUser = defineOperation({
  subject: 'call.gateway.delete-user',
  operationId: 'deleteUser',
  summary: 'Delete a user',
  description: 'Deletes a user. All keys of the user stop working.',
  tag: 'Users',
  http: { method: 'DELETE', url: '/api/admin/user-admin/:id', anyContentType: true },
  permission: 'ADMIN',
  params: AccountPath,
  errors: ['NotFoundError', 'InvalidOperationError'],
});
