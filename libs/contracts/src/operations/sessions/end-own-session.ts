import { defineOperation } from '../../operation.ts';
import { SessionPath } from '../paths.ts';

/** Ends one session of the caller. */
export const EndOwnSession = defineOperation({
  subject: 'call.gateway.end-own-session',
  operationId: 'deleteSession',
  summary: 'End one of the own sessions',
  description: 'Signs the caller out of one browser.',
  tag: 'Users',
  isBuntingExtension: true,
  http: { method: 'DELETE', url: '/api/admin/user/sessions/:sessionId', anyContentType: true },
  permission: 'authenticated',
  params: SessionPath,
  errors: ['NotFoundError'],
});
