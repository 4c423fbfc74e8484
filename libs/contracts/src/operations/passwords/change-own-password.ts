import { ChangeOwnPasswordBody } from '../../model/access/password.ts';
import { SessionClientQuery } from '../../model/access/sign-in.ts';
import { defineOperation } from '../../operation.ts';

/** Changes the password of the caller. Ends all sessions of the caller; the session of the request gets a new id. */
export const ChangeOwnPassword = defineOperation({
  subject: 'call.gateway.change-own-password',
  operationId: 'changeMyPassword',
  summary: 'Set the own password',
  description:
    'Sets the password of the caller, who sends the current one. All sessions of the caller end; the browser that sends the request gets a new one.',
  tag: 'Users',
  http: {
    method: 'POST',
    url: '/api/admin/user/change-password',
    address: 'address',
    headers: { userAgent: 'User-Agent' },
  },
  permission: 'authenticated',
  query: SessionClientQuery,
  body: ChangeOwnPasswordBody,
  errors: [
    'ValidationError',
    'OwaspValidationError',
    'PasswordPreviouslyUsedError',
    'PasswordMismatch',
    'ForbiddenError',
    'RateLimitError',
  ],
});
