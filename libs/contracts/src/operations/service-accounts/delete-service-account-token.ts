import { defineOperation } from '../../operation.ts';
import { AccountTokenPath } from '../paths.ts';

/** Deletes a token of a service account. Emits `pat-deleted`. */
export const DeleteServiceAccountToken = defineOperation({
  subject: 'call.gateway.delete-service-account-token',
  operationId: 'deleteServiceAccountToken',
  summary: 'Delete a token of a service account',
  description: 'Deletes a token of a service account. It stops working.',
  tag: 'Service Accounts',
  http: { method: 'DELETE', url: '/api/admin/service-account/:id/token/:tokenId', anyContentType: true },
  permission: 'ADMIN',
  params: AccountTokenPath,
  errors: ['NotFoundError', 'InvalidOperationError'],
});
