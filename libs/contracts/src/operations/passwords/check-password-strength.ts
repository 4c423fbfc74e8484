import { PasswordToCheck } from '../../model/access/password.ts';
import { defineOperation } from '../../operation.ts';

/** Checks the strength of a password, before signing in. */
export const CheckPasswordStrength = defineOperation({
  subject: 'call.gateway.check-password-strength',
  operationId: 'validatePassword',
  summary: 'Validate the strength of a password',
  description: 'Validates the strength of a password, for the pages on which users choose one before they sign in.',
  tag: 'Auth',
  http: { method: 'POST', url: '/auth/reset/validate-password' },
  readsOnly: true,
  permission: 'public',
  body: PasswordToCheck,
  errors: ['ValidationError', 'OwaspValidationError'],
});
