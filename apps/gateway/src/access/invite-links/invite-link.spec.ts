import { expect, it } from 'vitest';
import {
  inviteLinkCreated,
  inviteLinkUpdated,
  requireInvitableRole,
  requireUsableInviteLink,
  signedUp,
  updatedInviteLink,
} from './invite-link.ts';

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

const stored = { ...link, name: 'Workshop', rootRole: 2, secret: 'not in events' };
const { secret: _secret, ...data } = stored;

it('an update of an invitation link keeps what the request omits', () => {
  expect(updatedInviteLink(stored, {})).toEqual(link);
  expect(updatedInviteLink(stored, { enabled: false })).toEqual({ ...link, enabled: false });
});

it('the events of an invitation link have no secret, and an update that changes nothing emits none', () => {
  const disabled = { ...stored, enabled: false };
  expect(inviteLinkCreated(stored)).toEqual({ type: 'public-signup-token-created', data });
  expect(inviteLinkUpdated(stored, disabled)).toEqual([
    { type: 'public-signup-token-updated', data: { ...data, enabled: false }, preData: data },
  ]);
  expect(inviteLinkUpdated(stored, stored)).toEqual([]);
});

it('an invitation link makes no administrators', () => {
  expect(requireInvitableRole(2)).toBe(2);
  expect(() => requireInvitableRole(1)).toThrow('no role Admin');
});

it('a user who signs up by an invitation link is named in its event', () => {
  expect(signedUp(stored, { id: 7 })).toEqual({
    type: 'public-signup-token-user-added',
    data: { name: 'Workshop', userId: 7 },
  });
});
