import { CreatePatBody, CreatedPat } from '../../model/account.ts';
import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Create a token of a service account. Emits `pat-created`. */
export const CreateServiceAccountToken = defineOperation({
  subject: 'call.gateway.create-service-account-token',
  operationId: 'createServiceAccountToken',
  summary: 'Create a token of a service account',
  description: 'Creates a key that acts as the service account. The secret is shown this once.',
  tag: 'Service Accounts',
  http: { method: 'POST', url: '/api/admin/service-account/:id/token', status: 201 },
  permission: 'ADMIN',
  params: AccountPath,
  body: CreatePatBody,
  reply: CreatedPat,
  errors: ['ValidationError', 'NotFoundError', 'OperationDeniedError', 'NameExistsError'],
});
