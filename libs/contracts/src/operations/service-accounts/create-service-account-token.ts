import { CreatePatBody, CreatedPat } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Creates a token of a service account. Emits `pat-created`. */
export const CreateServiceAccountToken = defineOperation({
  subject: 'call.gateway.create-service-account-token',
  operationId: 'createServiceAccountToken',
  summary: 'Create a token of a service account',
  description: 'Creates a key that acts as the service account. The secret is shown only in this response.',
  tag: 'Service Accounts',
  http: { method: 'POST', url: '/api/admin/service-account/:id/token', status: 201 },
  permission: 'ADMIN',
  params: AccountPath,
  body: CreatePatBody,
  reply: CreatedPat,
  errors: ['ValidationError', 'NotFoundError', 'OperationDeniedError', 'NameExistsError'],
});
