import { OidcSettings, OidcSettingsBody } from '../../model/access/identity-provider-settings.ts';
import { defineOperation } from '../../operation.ts';

/** Changes the settings of OpenID Connect. */
export const SetOidcSettings = defineOperation({
  subject: 'call.gateway.set-oidc-settings',
  operationId: 'setOidcSettings',
  summary: 'Update the settings of OpenID Connect',
  description:
    'Discovers the provider before the settings are stored. The settings are read-only if the variables OIDC_* set them.',
  tag: 'Auth',
  http: { method: 'POST', url: '/api/admin/auth/oidc/settings' },
  permission: 'ADMIN',
  idempotent: true,
  body: OidcSettingsBody,
  reply: OidcSettings,
  errors: ['ValidationError', 'InvalidOperationError'],
});
