import { defineOperation } from '../../operation.ts';
import { AccountTokenPath } from '../paths.ts';

/** Deletes a token of a user. Emits `pat-deleted`. */
export const DeleteUserPat = defineOperation({
  subject: 'call.gateway.delete-user-pat',
  operationId: 'deleteUserToken',
  summary: 'Delete a token of a user',
  description: 'Deletes a token of a user. It stops working.',
  tag: 'Users',
  http: { method: 'DELETE', url: '/api/admin/user-admin/:id/token/:tokenId', anyContentType: true },
  permission: 'ADMIN',
  params: AccountTokenPath,
  errors: ['NotFoundError', 'InvalidOperationError'],
});
