import type { AvailablePermissions, RoleHolders, RoleWithPermissions } from '@bunting/contracts';

/** The permissions of one kind: of the whole installation (`root`), of projects, or of environments in projects. */
interface PermissionGroup {
  readonly kind: 'root' | 'project' | 'environment';
  readonly permissions: readonly { readonly name: string; readonly displayName: string }[];
}

/** All permissions in groups. The permissions of environments, which the API lists for each environment, are included once. */
export function permissionGroups({ permissions }: AvailablePermissions): readonly PermissionGroup[] {
  return [
    { kind: 'root', permissions: permissions.root },
    { kind: 'project', permissions: permissions.project },
    { kind: 'environment', permissions: permissions.environments[0]?.permissions ?? [] },
  ];
}

/** Where a role grants a permission: nowhere, wherever the role is given, in the project `default`, or in some environments. */
export type GrantScope = 'none' | 'all' | 'default' | { readonly environments: readonly string[] };

/** The scope in which a role grants a permission. Predefined root roles grant permissions of projects in the project `default` alone. */
export function grantScopeOf(
  role: Pick<RoleWithPermissions, 'type' | 'permissions'>,
  permission: string,
  kind: PermissionGroup['kind'],
): GrantScope {
  if (role.permissions.some(({ name }) => name === 'ADMIN')) return 'all';
  const grants = role.permissions.filter(({ name }) => name === permission);
  if (grants.length === 0) return 'none';
  if (role.type === 'root' && kind !== 'root') return 'default';
  const environments = grants.flatMap(({ environment }) => environment ?? []);
  return environments.length < grants.length ? 'all' : { environments };
}

/** The key of a permission that a role grants: `NAME`, or `NAME environment` for one environment. */
export function grantKey(name: string, environment?: string): string {
  return environment === undefined ? name : `${name} ${environment}`;
}

/** The grants of a role, as keys. */
export function grantsOf({ permissions }: Pick<RoleWithPermissions, 'permissions'>): ReadonlySet<string> {
  return new Set(permissions.map(({ name, environment }) => grantKey(name, environment)));
}

/** The grants of a role as the request body of the API. */
export function bodyOfGrants(grants: ReadonlySet<string>): { name: string; environment?: string }[] {
  return [...grants].map((grant) => {
    const [name = '', environment] = grant.split(' ');
    return environment === undefined ? { name } : { name, environment };
  });
}

/** Merges the change from `base` to `edited` into the `stored` grants, which another user may have changed since `base`. */
export function mergeGrants(
  base: ReadonlySet<string>,
  edited: ReadonlySet<string>,
  stored: ReadonlySet<string>,
): ReadonlySet<string> {
  return new Set([
    ...[...stored].filter((grant) => edited.has(grant) || !base.has(grant)),
    ...[...edited].filter((grant) => !base.has(grant)),
  ]);
}

export const permissionGroupTexts = {
  root: 'Everywhere',
  project: 'In projects',
  environment: 'In environments of projects',
} as const;

export const createRoleTexts = { root: 'Create a root role', project: 'Create a project role' } as const;

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

function permissionsIn({ role }: GrantSource, environment: string | undefined): readonly string[] {
  return role.permissions
    .filter(
      (grant) => grant.environment === undefined || environment === undefined || grant.environment === environment,
    )
    .map(({ name }) => name);
}

/**
 * The users with their permissions and the roles that grant them; with `permission`, only the users who have it. With `environment`, a
 * permission that is granted for other environments only does not count.
 */
export function permissionHolders(
  { users, groups, roles }: RoleHolders,
  { permission, environment }: PermissionHolderFilter = {},
): readonly PermissionHolder[] {
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
}
