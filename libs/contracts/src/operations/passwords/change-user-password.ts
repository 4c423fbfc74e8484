import { ChangePasswordBody } from '../../model/access/password.ts';
import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Sets the password of a user. Ends all sessions of the user. */
export const ChangeUserPassword = defineOperation({
  subject: 'call.gateway.change-user-password',
  operationId: 'changeUserPassword',
  summary: 'Set the password of a user',
  description: 'Sets the password of a user. All sessions of the user end.',
  tag: 'Users',
  http: { method: 'POST', url: '/api/admin/user-admin/:id/change-password' },
  permission: 'ADMIN',
  params: AccountPath,
  body: ChangePasswordBody,
  errors: ['ValidationError', 'OwaspValidationError', 'PasswordPreviouslyUsedError', 'NotFoundError'],
});
