import type { User } from '@bunting/contracts';
import { expect, it } from 'vitest';
import { accountCreated, accountDeleted, accountUpdated, updatedAccount } from '../../access/users/account.ts';

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
