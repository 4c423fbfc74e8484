import { expect, it } from 'vitest';
import { changeProvisionedGroup, type ProvisionedGroupChange, parseGroupPatch } from '../access/scim/scim-groups.ts';

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
