import { expect, it } from 'vitest';
import { scimTokenCreated, switchScim } from './scim-setting.ts';

const off = { enabled: false, hasToken: false };
const on = { enabled: true, hasToken: true };
it.each([
  ['is turned on for the first time', undefined, true, true, ['setting-created']],
  ['has no token when it is turned on', off, true, true, ['setting-updated']],
  ['is turned on again', { ...on, enabled: false }, true, false, ['setting-updated']],
  ['stays on', on, true, false, []],
  ['is turned off', on, false, false, ['setting-updated']],
  ['stays off', undefined, false, false, []],
] as const)('SCIM that %s gets a token only if it needs one', (_which, before, enabled, needsToken, types) => {
  const switched = switchScim(before, enabled);
  expect(switched.needsToken).toBe(needsToken);
  expect(switched.events.map(({ type }) => type)).toEqual(types);
});

it('a new token of SCIM leaves it on or off', () => {
  expect(scimTokenCreated(undefined)).toMatchObject({
    type: 'setting-created',
    data: { enabled: false, hasNewToken: true },
  });
  expect(scimTokenCreated({ enabled: true })).toMatchObject({
    type: 'setting-updated',
    data: { id: 'scim', enabled: true, hasNewToken: true },
    preData: { id: 'scim', enabled: true },
  });
});
