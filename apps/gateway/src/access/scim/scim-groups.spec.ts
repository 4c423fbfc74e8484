import { expect, it } from 'vitest';
import {
  changeProvisionedGroup,
  membersToLoad,
  parseGroupPatch,
  type ProvisionedGroup,
  type ProvisionedGroupChange,
} from './scim-groups.ts';

const before: ProvisionedGroup = {
  id: 3,
  name: 'Designers',
  description: 'They draw',
  mappingsSSO: ['ux'],
  rootRole: 2,
  provisioned: { externalId: 'g-3' },
};
const data = { id: 3, name: 'Designers', description: 'They draw', mappingsSSO: ['ux'], rootRole: 2 };
const change = (properties: Partial<ProvisionedGroupChange>): ProvisionedGroupChange => ({
  added: new Set(),
  removed: new Set(),
  ...properties,
});

it('an identity provider that renames a group emits all properties and members, before and after', () => {
  const renamed = change({ name: 'Artists', added: new Set([7]), removed: new Set([8]) });
  expect(changeProvisionedGroup(before, [8, 9], renamed).events).toEqual([
    { type: 'group-updated', data: { ...data, name: 'Artists', users: [7, 9] }, preData: { ...data, users: [8, 9] } },
    { type: 'group-user-added', data: { groupId: 3, groupName: 'Artists', userId: 7 } },
    { type: 'group-user-removed', preData: { groupId: 3, groupName: 'Artists', userId: 8 } },
  ]);
});

it('an identity provider that changes members of a group emits an event for each who was added or removed', () => {
  const moved = change({ added: new Set([7, 9]), removed: new Set([8, 10]) });
  expect(changeProvisionedGroup(before, [8, 9], moved).events).toEqual([
    { type: 'group-user-added', data: { groupId: 3, groupName: 'Designers', userId: 7 } },
    { type: 'group-user-removed', preData: { groupId: 3, groupName: 'Designers', userId: 8 } },
  ]);
});

it('a change of a group that names members needs to know of these only', () => {
  expect(membersToLoad(before, change({ added: new Set([7]), removed: new Set([8]) }))).toEqual([7, 8]);
  expect(membersToLoad(before, change({ name: 'Designers' }))).toEqual([]);
});

it('a change of a group that renames it or replaces its members needs to know of all members', () => {
  expect(membersToLoad(before, change({ name: 'Artists' }))).toBeUndefined();
  expect(membersToLoad(before, change({ members: new Set([7]) }))).toBeUndefined();
});

it.each<[sent: string | null | undefined, stored: object]>([
  [undefined, { externalId: 'g-3' }],
  ['g-4', { externalId: 'g-4' }],
  [null, {}],
])('a group with the external id g-3 has after a change to %j the attributes %j', (externalId, stored) => {
  const { after } = changeProvisionedGroup(before, [], change(externalId === undefined ? {} : { externalId }));
  expect(after).toEqual({ ...before, provisioned: stored });
});

it('a group that no identity provider manages yet is managed by it after a change', () => {
  expect(changeProvisionedGroup({ ...before, provisioned: null }, [], change({})).after.provisioned).toEqual({});
});

const patch = (...Operations: object[]) => parseGroupPatch({ Operations });
const changedMembers = (change: ProvisionedGroupChange, ...members: number[]) => {
  const group = { id: 3, name: 'Designers', description: null, mappingsSSO: [], rootRole: null, provisioned: null };
  const { namedMembers: named, added, removed } = changeProvisionedGroup(group, members, change);
  return { named, added, removed };
};
const member = (id: number) => ({ value: String(id) });

it('a SCIM patch that replaces the members of a group adds and removes the differences', () => {
  const change = patch({ op: 'replace', path: 'members', value: [member(7), member(8)] });
  expect(changedMembers(change, 8, 9)).toEqual({ named: [7, 8], added: [7], removed: [9] });
});

it('a SCIM patch that adds and removes members leaves all other members of a group', () => {
  const change = patch(
    { op: 'add', path: 'members', value: [member(7)] },
    { op: 'remove', path: 'members[value eq "8"]' },
  );
  expect(changedMembers(change, 8)).toEqual({ named: [7], added: [7], removed: [8] });
});

it('the last operation of a SCIM patch on a member counts', () => {
  const change = patch(
    { op: 'add', path: 'members', value: [member(7)] },
    { op: 'remove', path: 'members[value eq "7"]' },
  );
  expect(changedMembers(change, 7)).toEqual({ named: [], added: [], removed: [7] });
});
