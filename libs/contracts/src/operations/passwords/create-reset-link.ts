import { ResetLink, ResetLinkBody } from '../../model/access/password.ts';
import { defineOperation } from '../../operation.ts';

/** Creates a link by which a user chooses a password. */
export const CreateResetLink = defineOperation({
  subject: 'call.gateway.create-reset-link',
  operationId: 'resetUserPassword',
  summary: 'Create a password reset link',
  description:
    'Returns a link by which the user chooses a password, once and within a day. It replaces earlier links of the user, and is also sent by mail where a mail server is set.',
  tag: 'Users',
  http: { method: 'POST', url: '/api/admin/user-admin/reset-password' },
  permission: 'ADMIN',
  body: ResetLinkBody,
  reply: ResetLink,
  errors: ['ValidationError', 'NotFoundError'],
});
