import type { RoleHolders } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { bodyOfGrants, grantScopeOf, grantsOf, mergeGrants, permissionHolders } from './role-permissions.ts';

function grantOf(name: string, environment?: string) {
  return {
    id: 1,
    name,
    displayName: name,
    type: 'x',
    ...(environment === undefined ? {} : { environment }),
  };
}

describe('what a role gives', () => {
  it('is everything for an Admin', () => {
    expect(grantScopeOf({ type: 'root', permissions: [grantOf('ADMIN')] }, 'CREATE_FEATURE', 'project')).toBe('all');
  });

  it('is limited to the project default for the permissions of projects of an Editor', () => {
    const editor = { type: 'root' as const, permissions: [grantOf('CREATE_FEATURE'), grantOf('CREATE_SEGMENT')] };
    expect(grantScopeOf(editor, 'CREATE_FEATURE', 'project')).toBe('default');
    expect(grantScopeOf(editor, 'CREATE_SEGMENT', 'root')).toBe('all');
    expect(grantScopeOf(editor, 'DELETE_FEATURE', 'project')).toBe('none');
  });

  it('names the environments to which it is limited', () => {
    const name = 'UPDATE_FEATURE_ENVIRONMENT';
    const limited = { type: 'custom' as const, permissions: [grantOf(name, 'development'), grantOf(name, 'test')] };
    expect(grantScopeOf(limited, name, 'environment')).toEqual({ environments: ['development', 'test'] });
    expect(
      grantScopeOf({ type: 'custom', permissions: [...limited.permissions, grantOf(name)] }, name, 'environment'),
    ).toBe('all');
  });

  it('has the changes of two people who edited it together, so that what one of them revoked stays revoked', () => {
    const [base, edited, stored] = [
      ['A', 'B', 'C'],
      ['A', 'B', 'D'],
      ['A', 'C', 'E'],
    ].map((names) => new Set(names));
    expect([...mergeGrants(base ?? new Set(), edited ?? new Set(), stored ?? new Set())].toSorted()).toEqual([
      'A',
      'D',
      'E',
    ]);
  });

  it('is sent as it was read', () => {
    const permissions = [grantOf('CREATE_FEATURE'), grantOf('UPDATE_FEATURE_ENVIRONMENT', 'development')];
    expect(bodyOfGrants(grantsOf({ permissions }))).toEqual([
      { name: 'CREATE_FEATURE' },
      { name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'development' },
    ]);
  });
});

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
