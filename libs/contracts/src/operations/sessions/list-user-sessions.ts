import { UserSessions } from '../../model/access/session.ts';
import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Lists the sessions of a user. */
export const ListUserSessions = defineOperation({
  subject: 'call.gateway.list-user-sessions',
  operationId: 'getUserSessions',
  summary: 'List the sessions of a user',
  description: 'Returns the browsers that a user is signed in with.',
  tag: 'Users',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/user-admin/:id/sessions' },
  permission: 'ADMIN',
  params: AccountPath,
  reply: UserSessions,
  errors: ['NotFoundError'],
});
