import { PasswordToCheck } from '../../model/session.ts';
import { defineOperation } from '../../operation.ts';

/** Checks the strength of a password, before signing in. */
export const CheckPassword = defineOperation({
  subject: 'call.gateway.check-password',
  operationId: 'validatePassword',
  summary: 'Check the strength of a password',
  description:
    'Answers whether a password is strong enough, for the pages on which users choose one before they sign in.',
  tag: 'Auth',
  http: { method: 'POST', url: '/auth/reset/validate-password' },
  idempotent: true,
  permission: 'public',
  body: PasswordToCheck,
  errors: ['ValidationError', 'OwaspValidationError'],
});
