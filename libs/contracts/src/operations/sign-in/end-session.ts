import { defineOperation } from '../../operation.ts';
import { SessionPath } from '../paths.ts';

/** End one of the own sessions. */
export const EndSession = defineOperation({
  subject: 'call.gateway.end-session',
  operationId: 'deleteSession',
  summary: 'End one of the own sessions',
  description: 'Signs the caller out of one browser.',
  tag: 'Users',
  http: { method: 'DELETE', url: '/api/admin/user/sessions/:sessionId', anyContentType: true },
  permission: 'authenticated',
  params: SessionPath,
  errors: ['NotFoundError'],
});
