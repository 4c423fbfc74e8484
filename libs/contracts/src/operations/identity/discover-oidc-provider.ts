import { DiscoveredProvider, DiscoverProviderBody } from '../../model/access/identity-provider-settings.ts';
import { defineOperation } from '../../operation.ts';

/** Discovers an OpenID provider. */
export const DiscoverOidcProvider = defineOperation({
  subject: 'call.gateway.discover-oidc-provider',
  operationId: 'discoverOidcProvider',
  summary: 'Discover an OpenID provider',
  description:
    'Reads the metadata of a provider, and lists the problems that would prevent a sign-in. Nothing is stored.',
  tag: 'Auth',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/auth/oidc/discover' },
  permission: 'ADMIN',
  readsOnly: true,
  body: DiscoverProviderBody,
  reply: DiscoveredProvider,
  errors: ['ValidationError'],
});
