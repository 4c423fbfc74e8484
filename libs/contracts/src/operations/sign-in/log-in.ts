import { User } from '../../model/access/account.ts';
import { SessionClientQuery, LoginBody } from '../../model/access/sign-in.ts';
import { defineOperation } from '../../operation.ts';

/** Signs a user in with a password. Sets the cookie of a new session. */
export const LogIn = defineOperation({
  subject: 'call.gateway.log-in',
  operationId: 'login',
  summary: 'Sign in with a password',
  description:
    'Starts a session and sets its cookie, which works like an API key of the user. Every failure has the same response, whether the user exists or not.',
  tag: 'Auth',
  http: { method: 'POST', url: '/auth/simple/login', address: 'address', headers: { userAgent: 'User-Agent' } },
  permission: 'public',
  query: SessionClientQuery,
  body: LoginBody,
  reply: User,
  errors: ['ValidationError', 'PasswordMismatch', 'InvalidOperationError', 'RateLimitError'],
});
