import { PasswordSettings } from '../../model/access/password.ts';
import { defineOperation } from '../../operation.ts';

/** Changes the settings of passwords. */
export const SetPasswordSettings = defineOperation({
  subject: 'call.gateway.set-password-settings',
  operationId: 'setSimpleSettings',
  summary: 'Update the settings of passwords',
  description:
    'Turns signing in with a password on or off. It can be off only while users can sign in through an OpenID provider.',
  tag: 'Auth',
  http: { method: 'POST', url: '/api/admin/auth/simple/settings' },
  permission: 'ADMIN',
  idempotent: true,
  body: PasswordSettings,
  reply: PasswordSettings,
  errors: ['ValidationError', 'InvalidOperationError'],
});
