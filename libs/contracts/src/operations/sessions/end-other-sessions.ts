import { defineOperation } from '../../operation.ts';

/** Ends all sessions of the caller except that of the request. */
export const EndOtherSessions = defineOperation({
  subject: 'call.gateway.end-other-sessions',
  operationId: 'deleteOtherSessions',
  summary: 'End all other own sessions',
  description: 'Signs the caller out of all browsers but the one that sends this request.',
  tag: 'Users',
  isBuntingExtension: true,
  http: { method: 'DELETE', url: '/api/admin/user/sessions', anyContentType: true },
  permission: 'authenticated',
});
