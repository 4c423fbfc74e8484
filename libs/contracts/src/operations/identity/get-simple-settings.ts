import { SimpleSettings } from '../../model/identity.ts';
import { defineOperation } from '../../operation.ts';

/** Get the settings of passwords. */
export const GetSimpleSettings = defineOperation({
  subject: 'call.gateway.get-simple-settings',
  operationId: 'getSimpleSettings',
  summary: 'Get the settings of passwords',
  description: 'Returns whether users can sign in with a password.',
  tag: 'Auth',
  http: { method: 'GET', url: '/api/admin/auth/simple/settings' },
  permission: 'ADMIN',
  reply: SimpleSettings,
});
