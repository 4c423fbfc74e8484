import type { Group } from '@bunting/contracts';
import { expect, it } from 'vitest';
import { groupCreated, groupDeleted, groupUpdated, requestedGroup, requireExistingMembers } from './group.ts';

const aGroup = (properties: Partial<Group>, ...userIds: number[]): Group =>
  ({
    id: 3,
    name: 'Designers',
    description: null,
    mappingsSSO: [],
    rootRole: null,
    ...properties,
    users: userIds.map((id) => ({ user: { id } })),
  }) as unknown as Group;

it('a request without members keeps the members of a group', () => {
  expect(requestedGroup({ name: 'Designers' }, aGroup({}, 7, 8)).members).toEqual([7, 8]);
});

it('a request names each member and each mapping of a group once', () => {
  const users = [{ user: { id: 7 } }, { user: { id: 7 } }];
  expect(requestedGroup({ name: ' Designers ', users, mappingsSSO: ['ux', 'ux'] }, undefined)).toEqual({
    name: 'Designers',
    description: null,
    mappingsSSO: ['ux'],
    members: [7],
  });
});

it('a group with an empty name is refused', () => {
  expect(() => requestedGroup({ name: ' ' }, undefined)).toThrow('The name of a group must not be empty');
});

it('the creation of a group is one event with its members', () => {
  expect(groupCreated(aGroup({}), [7])).toMatchObject({ type: 'group-created', data: { users: [7] } });
});

it('the update of a group emits an event for each member that was added or removed', () => {
  expect(groupUpdated(aGroup({}, 7, 8), aGroup({}, 8, 9))).toMatchObject([
    { type: 'group-updated' },
    { type: 'group-user-added', data: { groupId: 3, groupName: 'Designers', userId: 9 } },
    { type: 'group-user-removed', preData: { groupId: 3, groupName: 'Designers', userId: 7 } },
  ]);
});

it('the update of a group that changes nothing emits no event', () => {
  expect(groupUpdated(aGroup({}, 7), aGroup({}, 7))).toEqual([]);
});

it('the deletion of a group is one event with its members', () => {
  expect(groupDeleted(aGroup({}), [7])).toMatchObject({
    type: 'group-deleted',
    preData: { name: 'Designers', users: [7] },
  });
});

it('a group has existing members only', () => {
  expect(() => requireExistingMembers([7, 8], [8, 7])).not.toThrow();
  expect(() => requireExistingMembers([7, 9], [7])).toThrow('There is no user 9');
});
