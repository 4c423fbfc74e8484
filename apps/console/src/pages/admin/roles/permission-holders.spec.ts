import type { RoleHolders } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { permissionHolders } from './permission-holders.ts';

describe('the users who may do something', () => {
  const user = (id: number, through: RoleHolders['users'][number]['through']) => ({
    id,
    name: `user ${id}`,
    username: null,
    email: null,
    isService: false,
    through,
  });
  const role = (id: number, name: string, permissions: RoleHolders['roles'][number]['permissions']) => ({
    id,
    name,
    description: '',
    type: 'custom' as const,
    permissions,
  });
  const holders: RoleHolders = {
    version: 1,
    users: [user(1, [{ role: 1, group: null }]), user(2, [{ role: 2, group: 7 }]), user(3, [{ role: 3, group: null }])],
    groups: [{ id: 7, name: 'Release team' }],
    roles: [
      role(1, 'Admin', [{ name: 'ADMIN' }]),
      role(2, 'Releaser', [{ name: 'APPLY_CHANGE_REQUEST', environment: 'production' }]),
      role(3, 'Viewer', []),
    ],
  };
  const named = (wanted: Parameters<typeof permissionHolders>[1]) =>
    permissionHolders(holders, wanted).map((one) => one.user.id);

  it('are all who hold a role when no permission is named', () => {
    expect(named({})).toEqual([1, 2, 3]);
  });

  it('are administrators, and those whose roles give the permission there', () => {
    expect(named({ permission: 'APPLY_CHANGE_REQUEST' })).toEqual([1, 2]);
    expect(named({ permission: 'APPLY_CHANGE_REQUEST', environment: 'production' })).toEqual([1, 2]);
    expect(named({ permission: 'APPLY_CHANGE_REQUEST', environment: 'development' })).toEqual([1]);
  });

  it('are shown with the group by which they have the role', () => {
    const [, holder] = permissionHolders(holders, { permission: 'APPLY_CHANGE_REQUEST' });
    expect(holder?.sources.map((source) => [source.role.name, source.group])).toEqual([['Releaser', 'Release team']]);
    expect([...(holder?.permissions.keys() ?? [])]).toEqual(['APPLY_CHANGE_REQUEST']);
  });
});
