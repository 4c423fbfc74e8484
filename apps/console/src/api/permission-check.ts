import type { Permission } from '@bunting/contracts';
import { useMe } from './queries.ts';

interface Where {
  readonly project?: string | undefined;
  readonly environment?: string | undefined;
}

interface Grant {
  readonly permission: string;
  readonly project?: string | undefined;
  readonly environment?: string | null | undefined;
}

/** Whether grants allow a permission in a project and environment. A grant without a project or environment holds everywhere. */
export const allows = (grants: readonly Grant[], permission: Permission, { project, environment }: Where): boolean =>
  grants.some(
    (grant) =>
      grant.permission === 'ADMIN' ||
      (grant.permission === permission &&
        (grant.project == null || grant.project === '*' || grant.project === project) &&
        (grant.environment == null || grant.environment === '' || grant.environment === environment)),
  );

/** A function that says whether the user may do something; nothing while it is not known yet. */
export const usePermissions = (): ((permission: Permission, where?: Where) => boolean) => {
  const { data } = useMe();
  return (permission, where = {}) => data !== undefined && allows(data.permissions, permission, where);
};
