import { ChangeOwnPasswordBody, ClientQuery } from '../../model/session.ts';
import { defineOperation } from '../../operation.ts';

/** Changes the own password. Ends all sessions of the caller; the one of the request is replaced. */
export const ChangeOwnPassword = defineOperation({
  subject: 'call.gateway.change-own-password',
  operationId: 'changeMyPassword',
  summary: 'Change the own password',
  description:
    'Sets the password of the caller, who proves to know the present one. All sessions of the caller end; the browser that sends the request gets a new one.',
  tag: 'Users',
  http: {
    method: 'POST',
    url: '/api/admin/user/change-password',
    address: 'address',
    headers: { userAgent: 'User-Agent' },
  },
  permission: 'authenticated',
  query: ClientQuery,
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
