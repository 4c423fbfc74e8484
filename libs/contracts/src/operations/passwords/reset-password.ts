import { ResetPasswordBody } from '../../model/access/password.ts';
import { defineOperation } from '../../operation.ts';

/** Sets a password by a link, once. Ends all sessions of the user. */
export const ResetPassword = defineOperation({
  subject: 'call.gateway.reset-password',
  operationId: 'changePassword',
  summary: 'Set a password with a reset link',
  description: 'Sets the password of the user of the link, which works once. All sessions of the user end.',
  tag: 'Auth',
  http: { method: 'POST', url: '/auth/reset/password' },
  permission: 'public',
  body: ResetPasswordBody,
  errors: [
    'InvalidOperationError',
    'ValidationError',
    'OwaspValidationError',
    'PasswordPreviouslyUsedError',
    'InvalidTokenError',
    'UsedTokenError',
  ],
});
