import { expect, it } from 'vitest';
import { passwordFaults, requireStrongPassword, requireValidPassword } from './password-policy.ts';

it.each([
  ['a mixture of ten characters', 'Abcdefg-12', []],
  ['a passphrase of twenty characters of one kind', 'a passphrase of many', []],
  ['fewer than ten characters', 'Abcdef-12', ['The password must be at least 10 characters long.']],
  ['three equal characters in a row', 'Abbbcdef-12', [expect.stringContaining('three or more repeated characters')]],
  ['no lowercase letter', 'ABCDEFG-12', ['The password must contain at least one lowercase letter.']],
  ['no uppercase letter', 'abcdefg-12', ['The password must contain at least one uppercase letter.']],
  ['no number', 'Abcdefg-hi', ['The password must contain at least one number.']],
  ['no special character', 'Abcdefgh12', ['The password must contain at least one special character.']],
])('a password with %s is judged by the rules for passwords', (_, password, faults) => {
  expect(passwordFaults(password)).toEqual(faults);
});

it('a password that breaks several rules is refused with the first as the message', () => {
  expect(() => requireStrongPassword('abc')).toThrow('at least 10 characters long');
  expect(() => requireStrongPassword('Abcdefg-12')).not.toThrow();
});

it('a confirmation must be the password, and is compared first', () => {
  expect(() => requireValidPassword({ password: 'weak', confirmPassword: 'other' })).toThrow('do not match');
  expect(() => requireValidPassword({ password: 'weak', confirmPassword: 'weak' })).toThrow('characters long');
  expect(() => requireValidPassword({ password: 'Abcdefg-12' })).not.toThrow();
});
