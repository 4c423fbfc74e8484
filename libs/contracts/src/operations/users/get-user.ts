import { User } from '../../model/account.ts';
import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Read a user. */
export const GetUser = defineOperation({
  subject: 'call.gateway.get-user',
  operationId: 'getUser',
  summary: 'Read a user',
  description: 'Returns a user.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user-admin/:id' },
  permission: 'ADMIN',
  params: AccountPath,
  reply: User,
  errors: ['NotFoundError'],
});
