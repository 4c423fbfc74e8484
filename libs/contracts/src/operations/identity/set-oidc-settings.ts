import { OidcSettings, OidcSettingsBody } from '../../model/identity.ts';
import { defineOperation } from '../../operation.ts';

/** Change the settings of OpenID Connect. */
export const SetOidcSettings = defineOperation({
  subject: 'call.gateway.set-oidc-settings',
  operationId: 'setOidcSettings',
  summary: 'Change the settings of OpenID Connect',
  description:
    'Discovers the provider before the settings are stored. The settings are read-only where the variables OIDC_* give them.',
  tag: 'Auth',
  http: { method: 'POST', url: '/api/admin/auth/oidc/settings' },
  permission: 'ADMIN',
  idempotent: true,
  body: OidcSettingsBody,
  reply: OidcSettings,
  errors: ['ValidationError', 'InvalidOperationError'],
});
