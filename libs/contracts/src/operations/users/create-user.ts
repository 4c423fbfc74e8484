import { CreateUserBody, CreatedUser } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';

/** Creates a user. Emits `user-created`. */
export const CreateUser = defineOperation({
  subject: 'call.gateway.create-user',
  operationId: 'createUser',
  summary: 'Create a user',
  description:
    'Adds a user. Without a password the response has a link with which the user chooses one, within a week.',
  tag: 'Users',
  http: {
    method: 'POST',
    url: '/api/admin/user-admin',
    status: 201,
    location: (_request, created: CreatedUser) => `user-admin/${created.id}`,
  },
  permission: 'ADMIN',
  body: CreateUserBody,
  reply: CreatedUser,
  errors: ['ValidationError'],
});
