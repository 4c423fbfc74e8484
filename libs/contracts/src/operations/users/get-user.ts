import { User } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Reads a user. */
export const GetUser = defineOperation({
  subject: 'call.gateway.get-user',
  operationId: 'getUser',
  summary: 'Get a user',
  description: 'Returns a user.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user-admin/:id' },
  permission: 'ADMIN',
  params: AccountPath,
  reply: User,
  errors: ['NotFoundError'],
});
