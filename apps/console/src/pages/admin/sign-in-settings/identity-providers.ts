import type { OidcSettings } from '@bunting/contracts';

/** An identity provider, and what is entered for it. docs/identity.md says the same. */
export interface IdentityProvider {
  readonly id: string;
  readonly label: string;
  /** the one part of its address that differs between customers; without it, all have the same */
  readonly asks?: { readonly label: string; readonly example: string };
  readonly addressOf: (answer: string) => string;
  /** its addresses, with the answer as a group */
  readonly addresses: RegExp;
  readonly settings: Pick<OidcSettings, 'groupJsonPath' | 'addGroupsScope' | 'extraScopes'>;
  /** what is done at the provider, and what else is chosen here */
  readonly help: string;
}

const noGroups = { groupJsonPath: '', addGroupsScope: false, extraScopes: '' };

export const identityProviders: readonly IdentityProvider[] = [
  {
    id: 'okta',
    label: 'Okta',
    asks: { label: 'Okta domain', example: 'example.okta.com' },
    addressOf: (domain) => `https://${domain}`,
    addresses: /^https:\/\/([\w.-]+\.okta(?:preview)?\.com(?:\/.+)?)$/,
    settings: { groupJsonPath: 'groups', addGroupsScope: true, extraScopes: '' },
    help: 'Create an app integration of the kind OIDC, Web Application. Give its ID token a groups claim with a filter, to bring groups in line.',
  },
  {
    id: 'entra',
    label: 'Microsoft Entra ID',
    asks: { label: 'Tenant id', example: '8f2c1a6e-0d4b-4c59-9f0e-3b7a5d1c2e64' },
    addressOf: (tenant) => `https://login.microsoftonline.com/${tenant}/v2.0`,
    addresses: /^https:\/\/login\.microsoftonline\.com\/([^/]+)\/v2\.0$/,
    settings: { groupJsonPath: 'groups', addGroupsScope: false, extraScopes: '' },
    help: 'Register an application with the platform Web. For groups, add a groups claim under “Token configuration”: it holds object ids. Entra does not say whether an address is verified, so trust addresses if people cannot choose theirs in your tenant.',
  },
  {
    id: 'google',
    label: 'Google',
    addressOf: () => 'https://accounts.google.com',
    addresses: /^https:\/\/accounts\.google\.com()$/,
    settings: noGroups,
    help: 'Create an OAuth client id of the kind Web application. Enter the domains of your email addresses: everybody with a Google account could sign in otherwise. Google names no groups.',
  },
  {
    id: 'keycloak',
    label: 'Keycloak',
    asks: { label: 'Host and realm', example: 'id.example.org/realms/main' },
    addressOf: (realm) => `https://${realm}`,
    addresses: /^https:\/\/(.+\/realms\/[^/]+)$/,
    settings: { groupJsonPath: 'groups', addGroupsScope: false, extraScopes: '' },
    help: 'Create a client with client authentication. For groups, give it a mapper Group Membership without the full path, with the claim groups; realm_access.roles takes roles instead.',
  },
  {
    id: 'auth0',
    label: 'Auth0',
    asks: { label: 'Auth0 domain', example: 'example.eu.auth0.com' },
    // Its issuer ends with a slash, by which its ID tokens are compared.
    addressOf: (domain) => `https://${domain}/`,
    addresses: /^https:\/\/([\w.-]+\.auth0\.com)\/$/,
    settings: noGroups,
    help: 'Create a Regular Web Application. For groups, add a claim with a namespace in an action after login, and enter its name under “Groups”.',
  },
];

/** The address of a provider for what somebody has entered, which may be a whole address that was copied; empty for nothing. */
export function addressFor({ asks, addressOf }: IdentityProvider, answer: string): string {
  const part = answer
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/\/+$/, '');
  return asks !== undefined && part === '' ? '' : addressOf(part);
}

/** The provider to which an address belongs, and what was entered for it; undefined for one that is not in the list. */
export function providerOf(
  address: string,
): { readonly provider: IdentityProvider; readonly answer: string } | undefined {
  for (const provider of identityProviders) {
    const answer = provider.addresses.exec(address)?.[1];
    if (answer !== undefined) return { provider, answer };
  }
  return undefined;
}
