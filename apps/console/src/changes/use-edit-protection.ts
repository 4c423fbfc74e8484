import { useQuery } from '@tanstack/react-query';
import { usePermissionCheck } from '../api/use-permission-check.ts';
import { changeRequestConfigQuery, protectedEnvironmentsOf } from './protected-environments.ts';

export interface EditProtection {
  /** the protected environments are not yet known: an edit has to wait for them */
  readonly isLoading: boolean;
  /** the protected environments that the edit touches; a proposed edit becomes part of a change request in the first */
  readonly environments: readonly string[];
  /** whether the user may edit all of them without a change request */
  readonly maySkip: boolean;
  /** whether an edit that is made directly bypasses change requests: environments are protected, and the user may skip that */
  readonly isDirect: boolean;
}

/** The protection that an edit of flags of a project meets in one environment; without `inEnvironment`, in all of them. */
export const useEditProtection = (project: string, inEnvironment?: string): EditProtection => {
  const { data, isPending } = useQuery(changeRequestConfigQuery(project));
  const hasPermission = usePermissionCheck();
  const environments = protectedEnvironmentsOf(data ?? []).filter(
    (name) => inEnvironment === undefined || name === inEnvironment,
  );
  const maySkip = environments.every((environment) => hasPermission('SKIP_CHANGE_REQUEST', { project, environment }));
  return { isLoading: isPending, environments, maySkip, isDirect: maySkip && environments.length > 0 };
};
