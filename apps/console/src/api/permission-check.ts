import type { Permission } from '@bunting/contracts';
import { useMe } from './queries.ts';

/** Where a permission must hold; without a project or environment, in all of them. */
interface PermissionScope {
  readonly project?: string | undefined;
  readonly environment?: string | undefined;
}

interface Grant {
  readonly permission: string;
  readonly project?: string | undefined;
  readonly environment?: string | null | undefined;
}

/** Whether grants allow a permission in a project and environment. A grant without a project or environment holds everywhere. */
export const grantsAllow = (
  grants: readonly Grant[],
  permission: Permission,
  { project, environment }: PermissionScope,
): boolean =>
  grants.some(
    (grant) =>
      grant.permission === 'ADMIN' ||
      (grant.permission === permission &&
        (grant.project == null || grant.project === '*' || grant.project === project) &&
        (grant.environment == null || grant.environment === '' || grant.environment === environment)),
  );

/** A function that tells whether the user has a permission; it denies everything until the user's permissions are loaded. */
export const usePermissionCheck = (): ((permission: Permission, where?: PermissionScope) => boolean) => {
  const { data } = useMe();
  return (permission, where = {}) => data !== undefined && grantsAllow(data.permissions, permission, where);
};
