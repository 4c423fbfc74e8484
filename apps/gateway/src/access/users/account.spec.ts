import type { User } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import {
  accountCreated,
  accountDeleted,
  accountUpdated,
  authorNameOf,
  displayNameOf,
  nameInEvents,
  namesFault,
  normalisedName,
  optionalEmail,
  optionalName,
  signInName,
  updatedAccount,
} from './account.ts';

const mia = { name: 'Mia Berg', username: 'mia', email: 'mia@bunting.example' };
const nameless = { name: null, username: null, email: null };

describe('a user', () => {
  it('is shown by the name, else the username, else the e-mail address, else `unknown`', () => {
    expect(displayNameOf(mia)).toBe('Mia Berg');
    expect(displayNameOf({ ...mia, name: null })).toBe('mia');
    expect(displayNameOf({ ...nameless, email: mia.email })).toBe('mia@bunting.example');
    expect(displayNameOf(nameless)).toBe('unknown');
  });

  it('is named as an author by the username, else the name, else the e-mail address', () => {
    expect(authorNameOf(mia)).toBe('mia');
    expect(authorNameOf({ ...mia, username: null })).toBe('Mia Berg');
    expect(authorNameOf({ ...nameless, email: mia.email })).toBe('mia@bunting.example');
  });

  it('is named in events by the e-mail address, else the username', () => {
    expect(nameInEvents(mia)).toBe('mia@bunting.example');
    expect(nameInEvents({ ...mia, email: null })).toBe('mia');
  });
});

it('a name is trimmed and has composed characters, so that it has one spelling', () => {
  expect(normalisedName(' Zoe\u0301 ')).toBe('Zo\u00e9');
  expect(optionalName(' ')).toBeNull();
  expect(optionalName(undefined)).toBeNull();
  expect(optionalEmail(' Zoe@Bunting.example ')).toBe('zoe@bunting.example');
});

it('an e-mail address has one spelling in every case, width and form of its domain', () => {
  for (const domain of [
    'B\u00dcCHER.example',
    'bu\u0308cher.example',
    'xn--bcher-kva.example',
    '\uff42\u00fccher.example',
  ])
    expect(optionalEmail(`Mia@${domain}`)).toBe('mia@xn--bcher-kva.example');
  expect(signInName('Mia@B\u00fccher.example')).toBe('mia@xn--bcher-kva.example');
  expect(signInName(' Mia ')).toBe('Mia');
});

it.each([
  ['mia', null, undefined],
  [null, 'mia@bunting.example', undefined],
  [null, null, 'username'],
  ['mia', 'no address', 'email'],
  ['mia', '@bunting.example', 'email'],
  ['mia', 'mia@', 'email'],
  ['mia', 'mia berg@bunting.example', 'email'],
  ['mia', 'mia@bunting.example,eve@bunting.example', 'email'],
  ['mia', 'mia@bunting.example;eve@bunting.example', 'email'],
  ['mia', '<mia@bunting.example>', 'email'],
  ['mia', 'mia(x)@bunting.example', 'email'],
  ['mia', '"mia"@bunting.example', 'email'],
  ['mia', 'mia@eve@bunting.example', 'email'],
  ['mia', 'mia@bunting..example', 'email'],
  ['mia', 'mia@-bunting.example', 'email'],
  ['mia', 'mia\u200b@bunting.example', 'email'],
  ['mia', 'mia@bun_ting.example', 'email'],
  [null, 'mia.berg+flags@localhost', undefined],
  [null, 'zo\u00e9@bunting.example', undefined],
])('an account with the username %j and the e-mail address %j has a fault in %j', (username, email, field) => {
  expect(namesFault({ username, email })?.field).toBe(field);
});

const before: User = {
  id: 7,
  isAPI: false,
  name: 'Maria',
  email: 'maria@example.org',
  imageUrl: '',
  rootRole: 2,
  accountType: 'User',
  active: true,
  seenAt: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  loginAttempts: 0,
  scimId: null,
};

it('an update of a user keeps the properties that the request omits', () => {
  expect(updatedAccount(before, {})).toEqual({ name: 'Maria', email: 'maria@example.org', active: true });
});

it('an update of a user trims the name and writes the e-mail address in lower case', () => {
  expect(updatedAccount(before, { name: ' Mia ', email: ' Mia@Example.org ' })).toEqual({
    name: 'Mia',
    email: 'mia@example.org',
    active: true,
  });
});

it('an update with an empty name removes the name of a user', () => {
  expect(updatedAccount(before, { name: '' }).name).toBeNull();
});

it('a user without a username keeps an e-mail address', () => {
  expect(() => updatedAccount(before, { email: '' })).toThrow('You must specify username or email');
  expect(updatedAccount({ ...before, username: 'maria' }, { email: '' }).email).toBeNull();
});

it('an update of a user with a malformed e-mail address is refused', () => {
  expect(() => updatedAccount(before, { email: 'maria' })).toThrow('The email must be an address');
  expect(updatedAccount({ ...before, email: 'stored before the rule' }, { active: false }).active).toBe(false);
});

it('an update that changes nothing emits no event', () => {
  expect(accountUpdated(before, { ...before })).toEqual([]);
});

it('an update of a user emits the user before and after', () => {
  expect(accountUpdated(before, { ...before, name: 'Mia' })).toEqual([
    {
      type: 'user-updated',
      data: expect.objectContaining({ id: 7, name: 'Mia' }),
      preData: expect.objectContaining({ id: 7, name: 'Maria' }),
    },
  ]);
});

it.each([
  ['User', 'user-created', 'user-updated', 'user-deleted'],
  ['Service Account', 'service-account-created', 'service-account-updated', 'service-account-deleted'],
] as const)('a %s emits %s, %s and %s', (accountType, created, updated, deleted) => {
  const account = { ...before, accountType };
  expect(accountCreated(account)).toEqual({
    type: created,
    data: expect.objectContaining({ id: 7, name: 'Maria' }),
  });
  expect(accountUpdated(account, { ...account, active: false })[0]?.type).toBe(updated);
  expect(accountDeleted(account)).toEqual({
    type: deleted,
    preData: expect.objectContaining({ id: 7, name: 'Maria' }),
  });
});
