import { OidcSettings } from '../../model/identity.ts';
import { defineOperation } from '../../operation.ts';

/** Get the settings of OpenID Connect. */
export const GetOidcSettings = defineOperation({
  subject: 'call.gateway.get-oidc-settings',
  operationId: 'getOidcSettings',
  summary: 'Get the settings of OpenID Connect',
  description: 'Returns how users sign in through an OpenID provider. The secret is never shown.',
  tag: 'Auth',
  http: { method: 'GET', url: '/api/admin/auth/oidc/settings' },
  permission: 'ADMIN',
  reply: OidcSettings,
});
