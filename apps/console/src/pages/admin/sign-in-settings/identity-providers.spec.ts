import { describe, expect, it } from 'vitest';
import { addressFor, identityProviders } from './identity-providers.ts';

describe('the address of an identity provider', () => {
  it.each([
    ['okta', 'example.okta.com', 'https://example.okta.com'],
    ['okta', ' https://example.okta.com/ ', 'https://example.okta.com'],
    ['okta', '  ', ''],
    ['entra', '8f2c1a6e', 'https://login.microsoftonline.com/8f2c1a6e/v2.0'],
    ['google', '', 'https://accounts.google.com'],
    ['keycloak', 'id.example.org/realms/main', 'https://id.example.org/realms/main'],
    ['auth0', 'example.eu.auth0.com', 'https://example.eu.auth0.com/'],
  ])('of %s for %j is %s', (id, answer, address) => {
    const provider = identityProviders.find((one) => one.id === id);
    expect(provider && addressFor(provider, answer)).toBe(address);
  });
});
