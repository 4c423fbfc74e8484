import { SavedScimSettings, ScimSettingsBody } from '../../model/access/identity-provider-settings.ts';
import { defineOperation } from '../../operation.ts';

/** Changes the settings of SCIM. */
export const SetScimSettings = defineOperation({
  subject: 'call.gateway.set-scim-settings',
  operationId: 'setScimSettings',
  summary: 'Update the settings of SCIM',
  description: 'Turns SCIM on or off. Turning it on for the first time creates the token, which is shown this once.',
  tag: 'Auth',
  http: { method: 'POST', url: '/api/admin/scim-settings' },
  permission: 'ADMIN',
  body: ScimSettingsBody,
  reply: SavedScimSettings,
  errors: ['ValidationError'],
});
