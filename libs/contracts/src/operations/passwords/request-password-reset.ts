import { EmailAddressBody } from '../../model/access/password.ts';
import { ClientAddressQuery } from '../../model/access/sign-in.ts';
import { defineOperation } from '../../operation.ts';

/** Sends a link to choose a password by mail. */
export const RequestPasswordReset = defineOperation({
  subject: 'call.gateway.request-password-reset',
  operationId: 'sendResetPasswordEmail',
  summary: 'Request a password reset link',
  description:
    'Sends a link by mail if a user has this address. The response is the same if none has, and where no mail server is set.',
  tag: 'Auth',
  http: { method: 'POST', url: '/auth/reset/password-email', address: 'address' },
  permission: 'public',
  query: ClientAddressQuery,
  body: EmailAddressBody,
  errors: ['InvalidOperationError', 'ValidationError', 'RateLimitError'],
});
