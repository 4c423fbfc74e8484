import { UserSessions } from '../../model/access/session.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the sessions of the caller. */
export const ListOwnSessions = defineOperation({
  subject: 'call.gateway.list-own-sessions',
  operationId: 'getSessions',
  summary: 'List the own sessions',
  description: 'Returns the browsers that the caller is signed in with.',
  tag: 'Users',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/user/sessions' },
  permission: 'authenticated',
  reply: UserSessions,
});
