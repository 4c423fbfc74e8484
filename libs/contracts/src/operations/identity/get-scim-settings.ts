import { ScimSettings } from '../../model/access/identity-provider-settings.ts';
import { defineOperation } from '../../operation.ts';

/** Returns the settings of SCIM. */
export const GetScimSettings = defineOperation({
  subject: 'call.gateway.get-scim-settings',
  operationId: 'getScimSettings',
  summary: 'Get the settings of SCIM',
  description: 'Returns whether an identity provider can manage users and groups through SCIM.',
  tag: 'Auth',
  http: { method: 'GET', url: '/api/admin/scim-settings' },
  permission: 'ADMIN',
  reply: ScimSettings,
});
