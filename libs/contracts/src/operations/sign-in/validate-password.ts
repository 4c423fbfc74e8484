import { PasswordToCheck } from '../../model/session.ts';
import { defineOperation } from '../../operation.ts';

/** Checks the strength of a password. */
export const ValidatePassword = defineOperation({
  subject: 'call.gateway.validate-password',
  operationId: 'validateUserPassword',
  summary: 'Check the strength of a password',
  description: 'Answers whether a password is strong enough.',
  tag: 'Users',
  http: { method: 'POST', url: '/api/admin/user-admin/validate-password' },
  idempotent: true,
  permission: 'authenticated',
  body: PasswordToCheck,
  errors: ['ValidationError', 'OwaspValidationError'],
});
