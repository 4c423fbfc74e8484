import { OidcSettings } from '../../model/access/identity-provider-settings.ts';
import { defineOperation } from '../../operation.ts';

/** Returns the settings of OpenID Connect. */
export const GetOidcSettings = defineOperation({
  subject: 'call.gateway.get-oidc-settings',
  operationId: 'getOidcSettings',
  summary: 'Get the settings of OpenID Connect',
  description: 'Returns the settings of OpenID Connect. The secret is never returned.',
  tag: 'Auth',
  http: { method: 'GET', url: '/api/admin/auth/oidc/settings' },
  permission: 'ADMIN',
  reply: OidcSettings,
});
