import type { Caller, Grant } from '@bunting/contracts';
import { expect, it } from 'vitest';
import { permissionMatrix } from '../../access/roles/role.ts';

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
