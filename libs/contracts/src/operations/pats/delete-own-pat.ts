import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Deletes a personal access token. Emits `pat-deleted`. */
export const DeleteOwnPat = defineOperation({
  subject: 'call.gateway.delete-own-pat',
  operationId: 'deletePat',
  summary: 'Delete a personal access token',
  description: 'Deletes one of the own personal access tokens. It stops working.',
  tag: 'Personal access tokens',
  http: { method: 'DELETE', url: '/api/admin/user/tokens/:id', anyContentType: true },
  permission: 'authenticated',
  params: AccountPath,
  errors: ['ForbiddenError', 'NotFoundError', 'InvalidOperationError'],
});
