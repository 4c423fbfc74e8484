import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Deletes a service account. Emits `service-account-deleted`. */
export const DeleteServiceAccount = defineOperation({
  subject: 'call.gateway.delete-service-account',
  operationId: 'deleteServiceAccount',
  summary: 'Delete a service account',
  description: 'Deletes a service account. All its keys stop working.',
  tag: 'Service Accounts',
  http: { method: 'DELETE', url: '/api/admin/service-account/:id', anyContentType: true },
  permission: 'ADMIN',
  params: AccountPath,
  errors: ['NotFoundError', 'InvalidOperationError'],
});
