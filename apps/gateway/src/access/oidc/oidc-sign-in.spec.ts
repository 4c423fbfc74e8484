import type { User } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import {
  accountToLinkOnFirstSignIn,
  type FirstSignIn,
  membershipsRetainingAdministrator,
  requireActive,
  requireAllowedDomain,
  requireStorableSubject,
  SignInDenied,
  type SynchronisedGroup,
  synchronisedMemberships,
} from './oidc-sign-in.ts';

const ann: User = {
  id: 7,
  isAPI: false,
  name: 'Ann',
  email: 'ann@example.org',
  imageUrl: '',
  rootRole: 3,
  accountType: 'User',
  active: true,
  seenAt: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  loginAttempts: 0,
  scimId: null,
};
const robot: User = { ...ann, accountType: 'Service Account' };

const signIn = (known: Partial<FirstSignIn>): FirstSignIn => ({
  email: 'ann@example.org',
  hasUnverifiedEmail: false,
  account: undefined,
  isLinked: false,
  autoCreate: true,
  ...known,
});

describe('the first sign-in of a subject of a provider', () => {
  it('is linked to the user with its verified e-mail address', () => {
    expect(accountToLinkOnFirstSignIn(signIn({ account: ann }))).toBe(ann);
  });

  it('is linked to an existing user also where sign-ins create no accounts', () => {
    expect(accountToLinkOnFirstSignIn(signIn({ account: ann, autoCreate: false }))).toBe(ann);
  });

  it('creates an account where there is none', () => {
    expect(accountToLinkOnFirstSignIn(signIn({}))).toBeUndefined();
  });

  it.each<[reason: string, known: Partial<FirstSignIn>, message: string]>([
    ['without an e-mail address', { email: null }, 'names no e-mail address'],
    ['with an unverified e-mail address', { email: null, hasUnverifiedEmail: true }, 'has not verified'],
    ['with the address of a service account', { account: robot }, 'an account of someone else'],
    ['with the address of another subject', { account: ann, isLinked: true }, 'an account of someone else'],
    ['without an account, where administrators create them', { autoCreate: false }, 'You have no account yet'],
  ])('is denied %s', (_, known, message) => {
    expect(() => accountToLinkOnFirstSignIn(signIn(known))).toThrow(message);
    expect(() => accountToLinkOnFirstSignIn(signIn(known))).toThrow(SignInDenied);
  });
});

it.each([
  ['', null],
  ['example.org', 'ann@example.org'],
  ['@Example.org, example.com', 'ann@example.com'],
])('the domains %j let %j sign in', (domains, email) => {
  expect(() => requireAllowedDomain({ email, hasUnverifiedEmail: false }, domains)).not.toThrow();
});

it.each([
  ['example.org', 'eve@example.org.evil'],
  ['example.org', 'eve@sub.example.org'],
])('the domains %j let %j not sign in', (domains, email) => {
  expect(() => requireAllowedDomain({ email, hasUnverifiedEmail: false }, domains)).toThrow('domain may not sign in');
});

it('an address that is missing or not verified is the reason, and not its domain', () => {
  const refuses = (hasUnverifiedEmail: boolean) => () =>
    requireAllowedDomain({ email: null, hasUnverifiedEmail }, 'example.org');
  expect(refuses(true)).toThrow('has not verified your e-mail address');
  expect(refuses(false)).toThrow('names no e-mail address for you');
});

it('a deactivated or deleted user cannot sign in', () => {
  expect(requireActive(ann)).toBe(ann);
  for (const user of [{ ...ann, active: false }, undefined]) expect(() => requireActive(user)).toThrow('deactivated');
});

it.each(['\ud800x', 'x\0', 's'.repeat(256)])(
  'a subject that cannot be stored as it is signs no user in (%j)',
  (subject) => {
    expect(() => requireStorableSubject(subject)).toThrow(SignInDenied);
    expect(() => requireStorableSubject('auth0|5f7c8ec7')).not.toThrow();
  },
);

const joined: SynchronisedGroup = { id: 1, name: 'Designers', isNamed: true, isMember: true };
const named: SynchronisedGroup = { id: 2, name: 'Writers', isNamed: true, isMember: false };
const unnamed: SynchronisedGroup = { id: 3, name: 'Editors', isNamed: false, isMember: true };
const groups = [joined, named, unnamed];

it('a sign-in adds the user to the groups that the provider names, and ends earlier memberships in others', () => {
  expect(synchronisedMemberships(7, groups)).toEqual({
    added: [named],
    removed: [unnamed],
    retained: [],
    events: [
      { type: 'group-user-added', data: { groupId: 2, groupName: 'Writers', userId: 7 } },
      { type: 'group-user-removed', preData: { groupId: 3, groupName: 'Editors', userId: 7 } },
    ],
  });
});

it('a sign-in that changes no membership emits nothing', () => {
  expect(synchronisedMemberships(7, [joined])).toEqual({ added: [], removed: [], retained: [], events: [] });
});

it('the last administrator keeps the memberships that the provider no longer names', () => {
  expect(membershipsRetainingAdministrator(7, groups)).toMatchObject({
    added: [named],
    removed: [],
    retained: [unnamed],
    events: [{ type: 'group-user-added' }],
  });
});
