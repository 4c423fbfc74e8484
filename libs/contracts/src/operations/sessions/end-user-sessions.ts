import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Ends all sessions of a user. */
export const EndUserSessions = defineOperation({
  subject: 'call.gateway.end-user-sessions',
  operationId: 'deleteUserSessions',
  summary: 'End all sessions of a user',
  description: 'Signs a user out of all browsers. The API keys of the user still work.',
  tag: 'Users',
  isBuntingExtension: true,
  http: { method: 'DELETE', url: '/api/admin/user-admin/:id/sessions', anyContentType: true },
  permission: 'ADMIN',
  params: AccountPath,
  errors: ['NotFoundError'],
});
