import { UserSessions } from '../../model/session.ts';
import { defineOperation } from '../../operation.ts';

/** List the own sessions. */
export const ListSessions = defineOperation({
  subject: 'call.gateway.list-sessions',
  operationId: 'getSessions',
  summary: 'List the own sessions',
  description: 'Returns the browsers that the caller is signed in with.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user/sessions' },
  permission: 'authenticated',
  reply: UserSessions,
});
