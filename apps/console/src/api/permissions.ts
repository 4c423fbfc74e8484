import { type AnyOperation, grantIncludes, type Permission, permissionsFor } from '@bunting/contracts';
import { useMe } from './queries-and-mutations.ts';

/** Where a permission must hold; without a project or environment, in all of them. */
export interface PermissionScope {
  readonly project?: string | undefined;
  readonly environment?: string | undefined;
}

/** A function that tells whether the user has a permission; it denies everything until the user's permissions are loaded. */
export function usePermissionCheck(): (permission: Permission, scope?: PermissionScope) => boolean {
  const { data } = useMe();
  return (permission, { project = null, environment = null } = {}) =>
    data?.permissions.some((grant) => grantIncludes(grant, permission, { project, environment })) ?? false;
}

/** Whether the user has a permission beyond single projects and environments; false until the permissions are loaded. */
export function useMayAdministrate(): boolean {
  const { data } = useMe();
  return data?.permissions.some(({ project, environment }) => project == null && environment == null) ?? false;
}

/** A function that tells whether the user may call an operation in a project and environment; false until the permissions are loaded. */
export function useMayCall(): (operation: AnyOperation, scope?: PermissionScope) => boolean {
  const hasPermission = usePermissionCheck();
  return (operation, scope) => {
    const permissions = permissionsFor(operation);
    return permissions.length === 0 || permissions.some((permission) => hasPermission(permission, scope));
  };
}
