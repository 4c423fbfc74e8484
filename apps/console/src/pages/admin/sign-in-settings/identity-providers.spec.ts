import { describe, expect, it } from 'vitest';
import { addressFor, identityProviders, providerOf } from './identity-providers.ts';

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

describe('an address that is stored', () => {
  it.each([
    ['okta', 'example.okta.com'],
    ['okta', 'example.okta.com/oauth2/default'],
    ['entra', '8f2c1a6e-0d4b-4c59-9f0e-3b7a5d1c2e64'],
    ['google', ''],
    ['keycloak', 'id.example.org/realms/main'],
    ['auth0', 'example.eu.auth0.com'],
  ])('is shown as that of %s with the answer %j', (id, answer) => {
    const provider = identityProviders.find((one) => one.id === id);
    expect(providerOf((provider && addressFor(provider, answer)) ?? '')).toEqual({ provider, answer });
  });

  it.each(['', 'https://id.example.org', 'https://example.okta.com.evil.example'])(
    'is of no known provider: %j',
    (address) => {
      expect(providerOf(address)).toBeUndefined();
    },
  );
});
