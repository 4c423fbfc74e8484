import { describe, expect, it } from 'vitest';
import { scimSettingCache, scimTokenCreated, switchScim } from './scim-setting.ts';
import { InvalidFilter, parseScimFilter } from './scim-store.ts';

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

describe('the token of SCIM', () => {
  it('is read once for many requests, and again after a change or a failed read', async () => {
    let reads = 0;
    let isAway = false;
    const setting = scimSettingCache(async () => {
      reads++;
      if (isAway) throw new Error('The database is away.');
      return undefined;
    }, 60_000);
    await Promise.all(Array.from({ length: 100 }, () => setting.read()));
    expect(reads).toBe(1);
    setting.invalidate();
    isAway = true;
    await expect(setting.read()).rejects.toThrow('The database is away.');
    isAway = false;
    expect(await setting.read()).toBeUndefined();
    expect(reads).toBe(3);
  });
});

it('a filter of SCIM compares an attribute with a value', () => {
  expect(parseScimFilter('userName eq "ada"')).toEqual({ op: 'eq', attrPath: 'userName', compValue: 'ada' });
});

it.each(['', 'userName', 'userName eq "ada', 'userName eq "a\tb"', `userName eq "${'\n'.repeat(900)}`])(
  'a malformed filter of SCIM is refused: %j',
  (text) => {
    expect(() => parseScimFilter(text)).toThrow(InvalidFilter);
  },
);
