import {
  type AnyOperation,
  anyScope,
  GetProfile,
  grantIncludes,
  type Permission,
  permissionsFor,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { isGranted, type PermissionScope } from './grants.ts';
import { operationQuery, useMe, useProjects } from './queries-and-mutations.ts';

/**
 * A function that tells whether the user has a permission; it denies everything until the user's permissions are loaded. It stays the same
 * function while they do.
 */
export function usePermissionCheck(): (permission: Permission, scope?: PermissionScope) => boolean {
  const { data } = useMe();
  return useCallback(
    (permission, scope = {}) => data !== undefined && isGranted(data.permissions, permission, scope),
    [data],
  );
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

/**
 * A function that tells whether the user has one of some permissions in any project and environment, or whether there are none to have;
 * false until the permissions are loaded.
 */
export function useMaySomewhere(): (permissions: readonly Permission[]) => boolean {
  const { data } = useMe();
  return (permissions) =>
    permissions.length === 0 ||
    permissions.some((wanted) => data?.permissions.some((grant) => grantIncludes(grant, wanted, anyScope)) === true);
}

/**
 * A function that tells whether the user may propose changes in a project: where it is protected, its members and administrators alone
 * may. False until that is known.
 */
export function useMayPropose(): (project: string) => boolean {
  const isAdministrator = usePermissionCheck()('ADMIN');
  const projects = useProjects().data?.projects;
  const isAnyProtected = projects?.some(({ mode }) => mode === 'protected') === true;
  const own = useQuery({
    ...operationQuery(GetProfile, {}),
    enabled: isAnyProtected && !isAdministrator,
    staleTime: 60_000,
  });
  const memberships = own.data?.projects;
  return useCallback(
    (project) => {
      if (isAdministrator) return true;
      const mode = projects?.find(({ id }) => id === project)?.mode;
      return mode !== undefined && (mode !== 'protected' || memberships?.includes(project) === true);
    },
    [isAdministrator, projects, memberships],
  );
}
