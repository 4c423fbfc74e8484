import type { Caller } from '@bunting/contracts';
import { expect, it } from 'vitest';
import {
  addRoles,
  type ProjectRoles,
  projectRolesEventData,
  removeRoles,
  replaceRoles,
  requireAssignable,
  setRoles,
} from './project-roles.ts';

const owner = 4;
const member = 5;
const rolesIn = (
  users: Readonly<Record<number, readonly number[]>>,
  groups: Readonly<Record<number, readonly number[]>> = {},
): ProjectRoles => {
  const byId = (record: Readonly<Record<number, readonly number[]>>) =>
    new Map(Object.entries(record).map(([id, roles]) => [Number(id), roles]));
  return { users: byId(users), groups: byId(groups) };
};
const noRoles = rolesIn({});
const existing = { grants: new Map([[member, [{ name: 'CREATE_FEATURE' as const }]]]), users: [7], groups: [3] };
const admin: Caller = { id: 1, name: 'admin', grants: [{ permission: 'ADMIN' }] };
const assign = (requested: ProjectRoles, { before = noRoles, caller = admin, roles = [member] } = {}) =>
  requireAssignable({ caller, project: 'shop', before, roles, requested }, existing);

it('the event of roles in a project lists the users and groups of each role by their ids', () => {
  expect(projectRolesEventData(rolesIn({ 9: [member], 7: [owner, member] }, { 3: [owner] }))).toEqual({
    roles: [
      { id: owner, users: [7], groups: [3] },
      { id: member, users: [7, 9], groups: [] },
    ],
  });
});

it('a request for the access to a project names the roles of each user and group once', () => {
  const roles = [
    { id: member, users: [7, 7] },
    { id: owner, users: [7], groups: [3] },
  ];
  expect(setRoles({ roles })).toMatchObject({
    roles: [owner, member],
    requested: rolesIn({ 7: [owner, member] }, { 3: [owner] }),
  });
});

it('the access to a project is set in place of the earlier one, which emits both', () => {
  const after = { roles: [{ id: owner, users: [8], groups: [] }] };
  expect(setRoles(after).decide(rolesIn({ 7: [owner] }), 'shop')).toEqual({
    roles: rolesIn({ 8: [owner] }),
    events: [
      {
        type: 'project-access-updated',
        project: 'shop',
        data: after,
        preData: { roles: [{ id: owner, users: [7], groups: [] }] },
      },
    ],
  });
  expect(setRoles(after).decide(rolesIn({ 8: [owner] }), 'shop').events).toEqual([]);
});

it('a user who gets a further role in a project keeps the earlier roles, and the event has the request', () => {
  const body = { roles: [owner, owner], users: [7, 8], groups: [] };
  expect(addRoles(body)).toMatchObject({ roles: [owner], requested: rolesIn({ 7: [owner], 8: [owner] }) });
  expect(addRoles({ ...body, unknown: 'x' } as typeof body).decide(rolesIn({ 7: [member] }), 'shop')).toEqual({
    roles: rolesIn({ 7: [owner, member], 8: [owner] }),
    events: [{ type: 'project-access-added', project: 'shop', data: { ...body, roles: [owner] } }],
  });
});

it('a user who gets a role that the user has already changes nothing', () => {
  const before = rolesIn({ 7: [owner, member] });
  expect(addRoles({ roles: [member], users: [7], groups: [] }).decide(before, 'shop').events).toEqual([]);
});

it('a project that has an owner keeps one', () => {
  const before = rolesIn({ 7: [owner] });
  expect(() => setRoles({ roles: [{ id: member, users: [7] }] }).decide(before, 'shop')).toThrow('at least one owner');
  expect(() => setRoles({ roles: [{ id: owner, groups: [3] }] }).decide(before, 'shop')).not.toThrow();
});

it('a project without an owner can be changed without getting one', () => {
  expect(() => setRoles({ roles: [{ id: member, users: [7] }] }).decide(noRoles, 'shop')).not.toThrow();
});

it('an unknown role, user or group gets no access to a project', () => {
  expect(() => assign(rolesIn({ 7: [99] }), { roles: [99] })).toThrow('There is no role 99 for projects');
  expect(() => assign(rolesIn({ 8: [member] }))).toThrow('There is no user 8');
  expect(() => assign(rolesIn({}, { 8: [member] }))).toThrow('There is no group 8');
  expect(() => assign(rolesIn({ 7: [member] }, { 3: [member] }))).not.toThrow();
});

it('a caller assigns a role with a permission that the caller lacks only to those who have the role already', () => {
  const caller = { ...admin, grants: [] };
  expect(() => assign(rolesIn({ 7: [member] }), { caller })).toThrow(/permission/);
  expect(() => assign(rolesIn({ 7: [member] }), { caller, before: rolesIn({ 7: [member] }) })).not.toThrow();
});

const seven = { type: 'user', id: 7 } as const;
const replace = (before: ProjectRoles, roles: readonly number[]) => replaceRoles(seven, roles).decide(before, 'shop');

it('a request for the roles of a user names each role once', () => {
  expect(replaceRoles(seven, [member, owner, member])).toMatchObject({
    roles: [owner, member],
    requested: rolesIn({ 7: [owner, member] }),
  });
});

it('a request that removes the roles of a user needs no such user', () => {
  expect(replaceRoles(seven, [])).toMatchObject({ roles: [], requested: noRoles });
});

it('the roles of a user in a project are replaced, which emits those before and after', () => {
  const event = { type: 'project-access-user-roles-updated', project: 'shop' };
  const before = rolesIn({ 7: [member] }, { 3: [owner] });
  expect(replace(before, [member, owner])).toEqual({
    roles: rolesIn({ 7: [owner, member] }, { 3: [owner] }),
    events: [{ ...event, data: { userId: 7, roles: [owner, member] }, preData: { userId: 7, roles: [member] } }],
  });
  expect(replace(before, []).events).toEqual([{ ...event, data: null, preData: { userId: 7, roles: [member] } }]);
});

it('the roles of a user in a project are removed, which emits those before', () => {
  expect(removeRoles(seven).decide(rolesIn({ 7: [member] }), 'shop')).toEqual({
    roles: rolesIn({ 7: [] }),
    events: [
      {
        type: 'project-access-user-roles-deleted',
        project: 'shop',
        data: null,
        preData: { userId: 7, roles: [member] },
      },
    ],
  });
  expect(removeRoles(seven).decide(noRoles, 'shop').events).toEqual([]);
  expect(() => removeRoles(seven).decide(rolesIn({ 7: [owner] }), 'shop')).toThrow('at least one owner');
});

it('a user who gets the roles that the user has already changes nothing', () => {
  expect(replace(rolesIn({ 7: [owner, member] }), [member, owner]).events).toEqual([]);
  expect(replace(noRoles, []).events).toEqual([]);
});

it('the last owner of a project cannot lose that role by a replacement', () => {
  expect(() => replace(rolesIn({ 7: [owner] }), [member])).toThrow('at least one owner');
});
