import { PasswordSettings } from '../../model/access/password.ts';
import { defineOperation } from '../../operation.ts';

/** Returns the settings of passwords. */
export const GetPasswordSettings = defineOperation({
  subject: 'call.gateway.get-password-settings',
  operationId: 'getSimpleSettings',
  summary: 'Get the settings of passwords',
  description: 'Returns whether users can sign in with a password.',
  tag: 'Auth',
  http: { method: 'GET', url: '/api/admin/auth/simple/settings' },
  permission: 'ADMIN',
  reply: PasswordSettings,
});
