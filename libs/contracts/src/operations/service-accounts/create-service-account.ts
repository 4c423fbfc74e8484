import { CreateServiceAccountBody, User } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';

/** Creates a service account. Emits `service-account-created`. */
export const CreateServiceAccount = defineOperation({
  subject: 'call.gateway.create-service-account',
  operationId: 'createServiceAccount',
  summary: 'Create a service account',
  description: 'Adds an account for a machine.',
  tag: 'Service Accounts',
  http: {
    method: 'POST',
    url: '/api/admin/service-account',
    status: 201,
    location: (_request, created: User) => `service-account/${created.id}`,
  },
  permission: 'ADMIN',
  body: CreateServiceAccountBody,
  reply: User,
  errors: ['ValidationError'],
});
