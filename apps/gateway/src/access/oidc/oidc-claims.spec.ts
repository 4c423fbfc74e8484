import { expect, it } from 'vitest';
import { lacksUserClaims, oidcUserClaims } from './oidc-claims.ts';

const settings = { enableGroupSyncing: false, groupJsonPath: 'groups', trustEmails: false };
const synchronised = { ...settings, enableGroupSyncing: true };
const token = { iss: 'https://id.example.org', sub: 'ann' };

it.each<[which: string, claims: object, trustEmails: boolean, email: string | null, hasUnverifiedEmail: boolean]>([
  ['that is verified', { email: 'Ann@Example.org', email_verified: true }, false, 'ann@example.org', false],
  ['that is verified in text', { email: 'ann@example.org', email_verified: 'true' }, false, 'ann@example.org', false],
  ['that is not verified', { email: 'ann@example.org', email_verified: false }, true, null, true],
  ['of which nothing is said', { email: 'ann@example.org' }, false, null, true],
  ['of which nothing is said, but trusted', { email: 'ann@example.org' }, true, 'ann@example.org', false],
  ['that cannot be stored', { email: 'ann\n@example.org', email_verified: true }, false, null, false],
  ['that is no address', { email: 'ann', email_verified: true }, false, null, false],
  ['with a lone surrogate', { email: 'ann\ud800@example.org', email_verified: true }, false, null, false],
  ['with the Kelvin sign', { email: '\u212aim@example.org', email_verified: true }, false, null, false],
  [
    'that is decomposed',
    { email: 'ma\u0301ria@example.org', email_verified: true },
    false,
    'm\u00e1ria@example.org',
    false,
  ],
  ['that is missing', {}, true, null, false],
])('an e-mail address of a provider %s', (_which, claims, trustEmails, email, hasUnverifiedEmail) => {
  const { iss: issuer, sub: subject } = token;
  expect(oidcUserClaims({ ...token, ...claims }, undefined, { ...settings, trustEmails })).toEqual({
    issuer,
    subject,
    name: null,
    email,
    hasUnverifiedEmail,
    groups: undefined,
  });
});

it('the verification of an e-mail address counts only beside the address', () => {
  const userInfo = { email: 'ann@example.org', email_verified: false, name: 'Ann' };
  expect(oidcUserClaims({ ...token, email_verified: true } as typeof token, userInfo, settings)).toMatchObject({
    name: 'Ann',
    email: null,
    hasUnverifiedEmail: true,
  });
});

it('groups are those of the ID token, or else of the claims of the user', () => {
  const groupsOf = (claims: object, userInfo?: object) =>
    oidcUserClaims({ ...token, ...claims }, userInfo as Record<string, unknown> | undefined, synchronised).groups;
  expect(groupsOf({ groups: ['ux', 'ux', 7, 'n\0l', '\ud800'] }, { groups: ['qa'] })).toEqual(['ux']);
  expect(groupsOf({}, { groups: 'qa' })).toEqual(['qa']);
  expect(groupsOf({})).toEqual([]);
});

it('the claims of the user are requested for an address or groups that the ID token lacks', () => {
  expect(lacksUserClaims(token, settings)).toBe(true);
  expect(lacksUserClaims({ ...token, email: 'ann@example.org' }, settings)).toBe(false);
  expect(lacksUserClaims({ ...token, email: 'ann@example.org' }, synchronised)).toBe(true);
  expect(lacksUserClaims({ ...token, email: 'ann@example.org', groups: [] }, synchronised)).toBe(false);
});
