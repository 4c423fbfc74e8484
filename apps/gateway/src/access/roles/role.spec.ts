import type { Caller, Grant, RoleBody } from '@bunting/contracts';
import { expect, it } from 'vitest';
import {
  parseRole,
  permissionMatrix,
  requireExistingEnvironments,
  requireMayGrant,
  roleCreated,
  roleDeleted,
  roleUpdated,
  type RoleWithGrants,
  updatedRole,
} from './role.ts';

const aCaller = (...grants: Grant[]): Caller => ({ id: 7, name: 'maria', grants });
const body = (properties: Partial<RoleBody>): RoleBody => ({ name: 'Releaser', permissions: [], ...properties });
const stored: RoleWithGrants = { id: 9, name: 'Releaser', description: '', type: 'custom', permissions: [] };

it('a role grants each permission in an environment once', () => {
  const grant = { name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'production' } as const;
  expect(parseRole(body({ name: ' Releaser ', permissions: [grant, grant] }))).toEqual({
    name: 'Releaser',
    description: '',
    type: 'custom',
    permissions: [grant],
  });
});

it('a project role cannot grant a root permission, and a custom root role can', () => {
  const permissions = [{ name: 'CREATE_PROJECT' }] as const;
  expect(() => parseRole(body({ permissions: [...permissions] }))).toThrow('cannot grant CREATE_PROJECT');
  expect(parseRole(body({ type: 'root-custom', permissions: [...permissions] })).permissions).toHaveLength(1);
});

it('a role cannot grant anything in an environment that does not exist', () => {
  const permissions = [
    { name: 'UPDATE_FEATURE_STRATEGY' as const, environment: 'production' },
    { name: 'UPDATE_FEATURE_STRATEGY' as const, environment: 'nope' },
  ];
  expect(() => requireExistingEnvironments({ permissions }, ['production'])).toThrow(
    expect.objectContaining({ details: [expect.objectContaining({ path: '/body/permissions/1/environment' })] }),
  );
  expect(() => requireExistingEnvironments({ permissions }, ['production', 'nope'])).not.toThrow();
});

it('a permission of a project cannot be limited to an environment', () => {
  const permissions = [{ name: 'CREATE_FEATURE' as const, environment: 'production' }];
  expect(() => parseRole(body({ permissions }))).toThrow('CREATE_FEATURE does not hold in single environments');
});

it('a predefined role is not changed', () => {
  expect(() => updatedRole({ ...stored, name: 'Owner', type: 'project' }, body({}))).toThrow(
    'Owner is a predefined role',
  );
});

it('the type of a role is not changed', () => {
  expect(() => updatedRole(stored, body({ type: 'root-custom' }))).toThrow(
    'The type of the role Releaser is custom and cannot be changed',
  );
  expect(updatedRole(stored, body({ description: 'releases' }))).toMatchObject({
    type: 'custom',
    description: 'releases',
  });
});

it('a role emits an event when it is created, changed and deleted', () => {
  const after = { ...stored, description: 'releases' };
  expect(roleCreated(stored)).toEqual({ type: 'role-created', data: stored });
  expect(roleUpdated(stored, after)).toEqual([{ type: 'role-updated', data: after, preData: stored }]);
  expect(roleUpdated(stored, { ...stored })).toEqual([]);
  expect(roleDeleted(stored)).toEqual({ type: 'role-deleted', preData: stored });
});

it('a caller grants only the permissions that the caller has in the project', () => {
  const caller = aCaller({ permission: 'CREATE_FEATURE', project: 'shop' });
  expect(() => requireMayGrant(caller, 'shop', [{ name: 'CREATE_FEATURE' }])).not.toThrow();
  expect(() => requireMayGrant(caller, 'warehouse', [{ name: 'CREATE_FEATURE' }])).toThrow(/permission/);
  expect(() => requireMayGrant(caller, 'shop', [{ name: 'DELETE_FEATURE' }])).toThrow(/permission/);
});

const aUser = (...grants: Grant[]): Caller => ({ id: 7, name: 'maria', grants });

const heldBy = (user: Caller | undefined, project?: string, environment?: string) => {
  const { root, project: inProject, environment: inEnvironment } = permissionMatrix(user, project, environment);
  return [...root, ...inProject, ...inEnvironment].filter(({ hasPermission }) => hasPermission).map(({ name }) => name);
};

it('an administrator has every permission in the permission matrix', () => {
  const admin = aUser({ permission: 'ADMIN' });
  const { root, project, environment } = permissionMatrix(admin, 'shop', 'production');
  expect([...root, ...project, ...environment].every(({ hasPermission }) => hasPermission)).toBe(true);
});

it('a permission in one project is not held in another project', () => {
  const user = aUser({ permission: 'CREATE_FEATURE', project: 'shop' });
  expect(heldBy(user, 'shop')).toEqual(['CREATE_FEATURE']);
  expect(heldBy(user, 'warehouse')).toEqual([]);
});

it('a permission in one environment is not held in another environment', () => {
  const user = aUser({ permission: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'development' });
  expect(heldBy(user, 'shop', 'development')).toEqual(['UPDATE_FEATURE_ENVIRONMENT']);
  expect(heldBy(user, 'shop', 'production')).toEqual([]);
});

it('the permission matrix has no permissions of environments unless an environment is named', () => {
  expect(permissionMatrix(aUser(), 'shop', undefined).environment).toEqual([]);
});

it('an inactive user has no permission in the permission matrix', () => {
  expect(heldBy(undefined, 'shop', 'production')).toEqual([]);
});
