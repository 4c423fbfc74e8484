import { PasswordToCheck } from '../../model/access/password.ts';
import { defineOperation } from '../../operation.ts';

/** Checks the strength of a password. */
export const ValidateUserPassword = defineOperation({
  subject: 'call.gateway.validate-user-password',
  operationId: 'validateUserPassword',
  summary: 'Validate the strength of a password',
  description: 'Returns whether a password is strong enough.',
  tag: 'Users',
  http: { method: 'POST', url: '/api/admin/user-admin/validate-password' },
  readsOnly: true,
  permission: 'authenticated',
  body: PasswordToCheck,
  errors: ['ValidationError', 'OwaspValidationError'],
});
