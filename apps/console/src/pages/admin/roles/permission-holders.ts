import type { RoleHolders } from '@bunting/contracts';

/** A role that a user has, and the group through which they have it. */
export interface GrantSource {
  readonly role: RoleHolders['roles'][number];
  readonly group: string | undefined;
}

export interface PermissionHolder {
  readonly user: RoleHolders['users'][number];
  /** the roles of the user; with a filter by permission, only those that grant it */
  readonly sources: readonly GrantSource[];
  /** the permissions of the user by name, each with the roles that grant it; `ADMIN` includes every permission */
  readonly permissions: ReadonlyMap<string, readonly GrantSource[]>;
}

interface PermissionHolderFilter {
  readonly permission?: string | undefined;
  readonly environment?: string | undefined;
}

const permissionsIn = ({ role }: GrantSource, environment: string | undefined): readonly string[] =>
  role.permissions
    .filter(
      (grant) => grant.environment === undefined || environment === undefined || grant.environment === environment,
    )
    .map(({ name }) => name);

/**
 * The users with their permissions and the roles that grant them; with `permission`, only the users who have it. With `environment`, a
 * permission that is granted for other environments only does not count.
 */
export const permissionHolders = (
  { users, groups, roles }: RoleHolders,
  { permission, environment }: PermissionHolderFilter = {},
): readonly PermissionHolder[] => {
  const roleById = new Map(roles.map((role) => [role.id, role]));
  const groupById = new Map(groups.map(({ id, name }) => [id, name]));
  return users.flatMap((user) => {
    const userSources = user.through.flatMap(({ role, group }): GrantSource[] => {
      const grantingRole = roleById.get(role);
      return grantingRole === undefined
        ? []
        : [{ role: grantingRole, group: group === null ? undefined : (groupById.get(group) ?? `${group}`) }];
    });
    const permissions = new Map<string, GrantSource[]>();
    for (const source of userSources) {
      for (const name of new Set(permissionsIn(source, environment))) {
        permissions.set(name, [...(permissions.get(name) ?? []), source]);
      }
    }
    if (permission === undefined) return [{ user, sources: userSources, permissions }];
    const sources = [...(permissions.get('ADMIN') ?? []), ...(permissions.get(permission) ?? [])];
    return sources.length === 0 ? [] : [{ user, sources, permissions }];
  });
};
