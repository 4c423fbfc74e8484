import type { OidcSettingsBody } from '@bunting/contracts';
import { expect, it } from 'vitest';
import {
  mergeOidcSettings,
  type OidcSettingsWithSecret,
  requireCheckedProvider,
  requireOidcToDisablePasswords,
  oidcSettingsResponse,
  defaultOidcSettings,
} from './oidc-settings.ts';

const before: OidcSettingsWithSecret = {
  ...defaultOidcSettings,
  enabled: true,
  discoverUrl: 'https://idp.example.org',
  clientId: 'bunting',
  secret: 'the secret',
};
const change = (body: Partial<OidcSettingsBody>) => mergeOidcSettings(before, body as OidcSettingsBody);

it('a change of the OpenID settings keeps what the request omits, and trims the address', () => {
  expect(change({ autoCreate: true })).toEqual({ ...before, autoCreate: true });
  expect(change({ discoverUrl: ' https://idp.example.org ' })).toEqual(before);
});

it.each([
  ['stays for the same client of the same provider', { emailDomains: 'example.org' }, 'the secret'],
  ['stays when the request has an empty one', { secret: '' }, 'the secret'],
  ['is replaced by a new one', { secret: 'another secret' }, 'another secret'],
  [
    'is removed with another provider, which must not learn it',
    { discoverUrl: 'https://other.example.org' },
    undefined,
  ],
  ['is removed with another client', { clientId: 'other' }, undefined],
])('the secret of the client %s', (_, body, secret) => {
  expect(change(body).secret).toBe(secret);
});

it.each([
  ['an address of the provider', { discoverUrl: ' ' }, 'The address of the provider must be given'],
  ['an id of the client', { clientId: '' }, 'The id of the client must be given'],
  [
    'the path of the groups, if groups are synchronised',
    { enableGroupSyncing: true, groupJsonPath: ' ' },
    'The path of the claim with the groups must be given',
  ],
])('OpenID Connect that is on needs %s', (_, body, message) => {
  expect(() => change(body)).toThrow(message);
  expect(() => change({ ...body, enabled: false })).not.toThrow();
});

it('members of a body that are no OpenID settings are not stored', () => {
  const body = { client_secret: 'mistyped', id: 'scim', autoCreate: true } as object;
  expect(mergeOidcSettings(before, body)).toEqual({ ...before, autoCreate: true });
});

it('the OpenID settings are shown without the secret, and say whether there is one', () => {
  expect(oidcSettingsResponse({ ...before, isReadOnly: false })).toMatchObject({
    secret: '',
    hasSecret: true,
    enablePkce: true,
    isReadOnly: false,
  });
  expect(oidcSettingsResponse({ ...before, secret: '', isReadOnly: true })).toMatchObject({
    secret: '',
    hasSecret: false,
    isReadOnly: true,
  });
});

it('OpenID settings with a provider that was not checked are refused, unless they are off', () => {
  const other = { ...before, discoverUrl: 'https://other.example.org' };
  expect(() => requireCheckedProvider(before, before)).not.toThrow();
  expect(() => requireCheckedProvider(before, other)).toThrow('changed at the same time');
  expect(() => requireCheckedProvider(before, { ...other, enabled: false })).not.toThrow();
});

it('passwords can be turned off only while users can sign in with OpenID Connect', () => {
  expect(() => requireOidcToDisablePasswords({ enabled: true })).not.toThrow();
  expect(() => requireOidcToDisablePasswords({ enabled: false })).toThrow('Turn that on first');
});

it('the root role 0, which the provider of Terraform sends for none, is none', () => {
  expect(mergeOidcSettings({ ...before, defaultRootRoleId: 2 }, { defaultRootRoleId: 0 }).defaultRootRoleId).toBeNull();
});
