import { type AnyOperation, permissionsFor } from '@bunting/contracts';
import { type PermissionScope, usePermissionCheck } from './use-permission-check.ts';

/** A function that tells whether the user may call an operation in a project and environment; false until the permissions are loaded. */
export const useMayCall = (): ((operation: AnyOperation, scope?: PermissionScope) => boolean) => {
  const hasPermission = usePermissionCheck();
  return (operation, scope) => {
    const permissions = permissionsFor(operation);
    return permissions.length === 0 || permissions.some((permission) => hasPermission(permission, scope));
  };
};
