import { describe, expect, it } from 'vitest';
import {
  authorNameOf,
  displayNameOf,
  nameInEvents,
  namesFault,
  normalisedName,
  optionalEmail,
  optionalName,
  signInName,
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
