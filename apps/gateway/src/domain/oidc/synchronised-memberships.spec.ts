import { expect, it } from 'vitest';
import {
  membershipsRetainingAdministrator,
  type SynchronisedGroup,
  synchronisedMemberships,
} from '../../access/oidc/oidc-sign-in.ts';

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
