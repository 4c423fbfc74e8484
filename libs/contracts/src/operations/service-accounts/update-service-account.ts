import { UpdateServiceAccountBody, User } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Changes a service account. Emits `service-account-updated`. */
export const UpdateServiceAccount = defineOperation({
  subject: 'call.gateway.update-service-account',
  operationId: 'updateServiceAccount',
  summary: 'Update a service account',
  description: 'Changes name, root role, and whether the keys of the account work.',
  tag: 'Service Accounts',
  http: { method: 'PUT', url: '/api/admin/service-account/:id' },
  permission: 'ADMIN',
  params: AccountPath,
  body: UpdateServiceAccountBody,
  reply: User,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError'],
});
