import { DeleteInactiveUsersBody } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';

/** Deletes inactive users. Emits `user-deleted` for each. */
export const DeleteInactiveUsers = defineOperation({
  subject: 'call.gateway.delete-inactive-users',
  operationId: 'deleteInactiveUsers',
  summary: 'Delete inactive users',
  description: 'Deletes those of the users who are inactive, all or none. The others, and the caller, stay.',
  tag: 'Users',
  http: { method: 'POST', url: '/api/admin/user-admin/inactive/delete' },
  permission: 'ADMIN',
  body: DeleteInactiveUsersBody,
  errors: ['ValidationError', 'InvalidOperationError'],
});
