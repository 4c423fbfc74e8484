import { expect, it } from 'vitest';
import { defaultOidcSettings, type OidcSettingsWithSecret } from '../access/oidc/oidc-settings.ts';
import { oidcSettingEvents, passwordSettingEvents } from '../access/sign-in/setting.ts';

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
