import { useQuery } from '@tanstack/react-query';
import { usePermissionCheck } from '../api/use-permission-check.ts';
import { changeRequestConfigQuery, protectedEnvironmentsOf } from './protected-environments.ts';

export interface EditProtection {
  /** what is protected is still being read: an edit has to wait for it */
  readonly isLoading: boolean;
  /** the protected environments that the edit touches; it becomes part of a change request of the first */
  readonly environments: readonly string[];
  /** whether the user may edit all of them without a change request */
  readonly maySkip: boolean;
  /** whether an edit that is not proposed goes past a change request, as the user has been told */
  readonly isDirect: boolean;
}

/** Whether an edit of flags of a project needs a change request: in one environment, or without `inEnvironment` in all of them. */
export const useEditProtection = (project: string, inEnvironment?: string): EditProtection => {
  const { data, isPending } = useQuery(changeRequestConfigQuery(project));
  const may = usePermissionCheck();
  const environments = protectedEnvironmentsOf(data ?? []).filter(
    (name) => inEnvironment === undefined || name === inEnvironment,
  );
  const maySkip = environments.every((environment) => may('SKIP_CHANGE_REQUEST', { project, environment }));
  return { isLoading: isPending, environments, maySkip, isDirect: maySkip && environments.length > 0 };
};
