import { type AnyOperation, permissionsFor } from '@bunting/contracts';
import { usePermissionCheck } from './use-permission-check.ts';

export interface PermissionPlace {
  readonly project?: string | undefined;
  readonly environment?: string | undefined;
}

/** A function that tells whether the user may call an operation in a project and environment; false until the permissions are loaded. */
export const useMayCall = (): ((operation: AnyOperation, where?: PermissionPlace) => boolean) => {
  const may = usePermissionCheck();
  return (operation, where) => {
    const permissions = permissionsFor(operation);
    return permissions.length === 0 || permissions.some((permission) => may(permission, where));
  };
};
