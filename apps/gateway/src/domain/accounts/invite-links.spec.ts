import { expect, it } from '@jest/globals';
import { requireUsableInviteLink } from './invite-links.ts';

const now = new Date('2026-05-01T12:00:00.000Z');
const link = { enabled: true, expiresAt: '2026-05-01T12:00:00.001Z' };

it('an invitation link can be used until it expires', () => {
  expect(requireUsableInviteLink(link, now)).toBe(link);
  expect(() => requireUsableInviteLink({ ...link, expiresAt: now.toISOString() }, now)).toThrow('has expired');
});

it('a disabled or unknown invitation link cannot be used', () => {
  for (const unusable of [{ ...link, enabled: false }, undefined])
    expect(() => requireUsableInviteLink(unusable, now)).toThrow('The invitation is not valid');
});
