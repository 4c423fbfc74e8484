import type { OidcSettingsBody } from '@bunting/contracts';
import { expect, it } from 'vitest';
import { oidcSettingEvents, passwordSettingEvents } from '../sign-in/setting.ts';
import {
  defaultOidcSettings,
  mergeOidcSettings,
  oidcSettingsResponse,
  type OidcSettingsWithSecret,
  requireCheckedProvider,
  requireOidcToDisablePasswords,
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

it.each([
  'example.org; example.com',
  'example.org example.com',
  'https://example.org',
  '*.example.org',
  'ann@example.org',
])('domains of e-mail addresses are not %s, with which nobody could sign in', (emailDomains) => {
  expect(() => change({ emailDomains })).toThrow('is no domain');
  expect(() => change({ emailDomains: `example.org, ${emailDomains}` })).toThrow('is no domain');
  expect(() => change({ emailDomains, enabled: false })).toThrow('is no domain');
});

it('domains of e-mail addresses are separated by commas, and may begin with the sign before them', () => {
  for (const emailDomains of ['', 'example.org', ' @example.org , müller.example,'])
    expect(change({ emailDomains })).toMatchObject({ emailDomains });
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

it('the first change of a setting creates it, and a later one updates it', () => {
  expect(passwordSettingEvents(undefined, { disabled: true })).toEqual([
    { type: 'setting-created', data: { id: 'simple', disabled: true }, preData: null },
  ]);
  expect(passwordSettingEvents({ disabled: true }, { disabled: false })).toEqual([
    {
      type: 'setting-updated',
      data: { id: 'simple', disabled: false },
      preData: { id: 'simple', disabled: true },
    },
  ]);
});

it('passwords that stay on or off emit nothing', () => {
  expect(passwordSettingEvents(undefined, { disabled: false })).toEqual([]);
  expect(passwordSettingEvents({ disabled: true }, { disabled: true })).toEqual([]);
});

const oidc: OidcSettingsWithSecret = {
  ...defaultOidcSettings,
  enabled: true,
  discoverUrl: 'https://id.bunting.example',
  clientId: 'bunting',
  secret: 'first',
};
it.each([
  ['first', false],
  ['second', true],
])('the event of OpenID Connect says whether the secret %s is new, and has none', (secret, hasNewSecret) => {
  const [event] = oidcSettingEvents(oidc, { ...oidc, autoCreate: true, secret }, { wasStored: true });
  expect(event).toMatchObject({
    type: 'setting-updated',
    data: { id: 'oidc', autoCreate: true, hasNewSecret },
    preData: { id: 'oidc', autoCreate: false },
  });
  expect(event?.data).not.toHaveProperty('secret');
  expect(event?.preData).not.toHaveProperty('secret');
});

it('settings of OpenID Connect that stay the same emit no event, but for the first ones', () => {
  expect(oidcSettingEvents(oidc, { ...oidc }, { wasStored: true })).toEqual([]);
  expect(oidcSettingEvents(oidc, { ...oidc }, { wasStored: false })).toMatchObject([{ type: 'setting-created' }]);
});
