import type { AvailablePermissions, RoleHolders, RoleWithPermissions } from '@bunting/contracts';

/** A permission under which a role can be described: of everything, of projects, or of environments. */
export interface PermissionGroup {
  readonly kind: 'root' | 'project' | 'environment';
  readonly permissions: readonly { readonly name: string; readonly displayName: string }[];
}

/** The catalogue of permissions in groups, those of environments once. */
export const permissionGroups = ({ permissions }: AvailablePermissions): readonly PermissionGroup[] => [
  { kind: 'root', permissions: permissions.root },
  { kind: 'project', permissions: permissions.project },
  { kind: 'environment', permissions: permissions.environments[0]?.permissions ?? [] },
];

/** Where a role grants a permission: nowhere, everywhere in the role's scope, in the project `default`, or in some environments. */
export type GrantScope = 'none' | 'all' | 'default' | { readonly environments: readonly string[] };

/** The scope in which a role grants a permission. The predefined root roles grant the permissions of projects in the project `default` alone. */
export const grantScopeOf = (
  role: Pick<RoleWithPermissions, 'type' | 'permissions'>,
  permission: string,
  kind: PermissionGroup['kind'],
): GrantScope => {
  if (role.permissions.some(({ name }) => name === 'ADMIN')) return 'all';
  const grants = role.permissions.filter(({ name }) => name === permission);
  if (grants.length === 0) return 'none';
  if (role.type === 'root' && kind !== 'root') return 'default';
  const environments = grants.flatMap(({ environment }) => environment ?? []);
  return environments.length < grants.length ? 'all' : { environments };
};

/** A permission of a role in an edit, as one key: `NAME`, or `NAME environment`. */
export const grantKey = (name: string, environment?: string): string =>
  environment === undefined ? name : `${name} ${environment}`;

/** The grants of a role, as keys. */
export const grantsOf = ({ permissions }: Pick<RoleWithPermissions, 'permissions'>): ReadonlySet<string> =>
  new Set(permissions.map(({ name, environment }) => grantKey(name, environment)));

/** The grants of a role as the request body of the API. */
export const bodyOfGrants = (grants: ReadonlySet<string>): { name: string; environment?: string }[] =>
  [...grants].map((grant) => {
    const [name = '', environment] = grant.split(' ');
    return environment === undefined ? { name } : { name, environment };
  });

/** Merges the change from `base` to `edited` into the `stored` grants, which another user may have changed since `base`. */
export const mergeGrants = (
  base: ReadonlySet<string>,
  edited: ReadonlySet<string>,
  stored: ReadonlySet<string>,
): ReadonlySet<string> =>
  new Set([
    ...[...stored].filter((grant) => edited.has(grant) || !base.has(grant)),
    ...[...edited].filter((grant) => !base.has(grant)),
  ]);

/** A role that a user has, and the group through which they have it. */
export interface GrantSource {
  readonly role: RoleHolders['roles'][number];
  readonly group: string | undefined;
}

export interface PermissionHolder {
  readonly user: RoleHolders['users'][number];
  /** the roles that apply, or those that give the permission that was looked for */
  readonly sources: readonly GrantSource[];
  /** what the user may do, in the order of the roles, each with the roles that give it; `ADMIN` stands for everything */
  readonly permissions: ReadonlyMap<string, readonly GrantSource[]>;
}

interface PermissionFilter {
  readonly permission?: string | undefined;
  readonly environment?: string | undefined;
}

const permissionsIn = ({ role }: GrantSource, environment: string | undefined): readonly string[] =>
  role.permissions
    .filter(
      (grant) => grant.environment === undefined || environment === undefined || grant.environment === environment,
    )
    .map(({ name }) => name);

/** Who may do what, or who has one permission, and through which roles. A permission of some environments counts where none is named. */
export const permissionHolders = (
  { users, groups, roles }: RoleHolders,
  { permission, environment }: PermissionFilter = {},
): readonly PermissionHolder[] => {
  const roleById = new Map(roles.map((role) => [role.id, role]));
  const groupById = new Map(groups.map(({ id, name }) => [id, name]));
  return users.flatMap((user) => {
    const all = user.through.flatMap(({ role, group }): GrantSource[] => {
      const found = roleById.get(role);
      return found === undefined
        ? []
        : [{ role: found, group: group === null ? undefined : (groupById.get(group) ?? `${group}`) }];
    });
    const permissions = new Map<string, GrantSource[]>();
    for (const source of all) {
      for (const name of new Set(permissionsIn(source, environment))) {
        permissions.set(name, [...(permissions.get(name) ?? []), source]);
      }
    }
    if (permission === undefined) return [{ user, sources: all, permissions }];
    const sources = [...(permissions.get('ADMIN') ?? []), ...(permissions.get(permission) ?? [])];
    return sources.length === 0 ? [] : [{ user, sources, permissions }];
  });
};
