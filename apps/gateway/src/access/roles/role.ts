import type { EventContent } from '@bunting/contracts';
import {
  type Caller,
  describePermission,
  grantIncludes,
  invalidProperty,
  noAccess,
  type Permission,
  permissionCatalogue,
  refusal,
  type Role,
  type RoleBody,
  type UserPermissions,
} from '@bunting/contracts';
import { eventsOfUpdate } from '../events.ts';

/** Ids of the predefined roles, the same in every installation. */
export const predefinedRole = { admin: 1, editor: 2, viewer: 3, owner: 4, member: 5, reader: 6 } as const;

/** A permission that a role grants; without an environment, in every environment. */
export interface RoleGrant {
  readonly name: Permission;
  readonly environment?: string | null | undefined;
}

/** A role with its grants, as it is stored and as events carry it. */
export interface RoleWithGrants extends Role {
  readonly permissions: readonly RoleGrant[];
}

export interface RoleInput {
  readonly name: string;
  readonly description: string;
  readonly type: 'root-custom' | 'custom';
  readonly permissions: readonly RoleGrant[];
}

/** The name of a role, trimmed. @throws Refusal 400 for an empty one */
export function parseRoleName({ name }: Pick<RoleBody, 'name'>): string {
  const trimmed = name.trim();
  if (trimmed === '') throw invalidProperty('The name of a role must not be empty', '/body/name');
  return trimmed;
}

/**
 * Parses the role of a request: trims its texts and removes duplicate grants. A root role may grant permissions of projects, which then
 * hold in every project; a project role may grant those only.
 * @throws Refusal 400 for a permission that the type of role cannot grant, and for an environment of a permission that has none
 */
export function parseRole(body: RoleBody): RoleInput {
  const name = parseRoleName(body);
  const type = body.type ?? 'custom';
  const grants = new Map<string, RoleGrant>();
  for (const [index, grant] of body.permissions.entries()) {
    const path = `/body/permissions/${index}`;
    const environment = grant.environment || null;
    const permission = permissionCatalogue.get(grant.name);
    if (permission === undefined) throw invalidProperty(`No role can grant ${grant.name}`, `${path}/name`);
    if (type === 'custom' && permission.type === 'root')
      throw invalidProperty(`A role of the type ${type} cannot grant ${grant.name}`, `${path}/name`);
    if (environment !== null && permission.type !== 'environment')
      throw invalidProperty(`${grant.name} does not hold in single environments`, `${path}/environment`);
    grants.set(JSON.stringify([grant.name, environment]), { name: grant.name, environment });
  }
  return { name, description: body.description?.trim() ?? '', type, permissions: [...grants.values()] };
}

/**
 * Rights in an environment that does not exist would give nobody anything, and come alive with an environment of that name.
 * @throws Refusal 400 for a grant in such an environment
 */
export function requireExistingEnvironments(
  { permissions }: Pick<RoleBody, 'permissions'>,
  existing: readonly string[],
): void {
  for (const [index, { environment }] of permissions.entries())
    if (environment && !existing.includes(environment))
      throw invalidProperty(`Environment=${environment} does not exist`, `/body/permissions/${index}/environment`);
}

/**
 * A role after an update, which cannot change its type.
 * @throws Refusal `InvalidOperationError` for a predefined role, and 400 as `parseRole`
 */
export function updatedRole(before: Role, body: RoleBody): RoleInput {
  const type = requireCustomRole(before);
  if (body.type !== undefined && body.type !== type)
    throw invalidProperty(`The type of the role ${before.name} is ${type} and cannot be changed`, '/body/type');
  return parseRole({ ...body, type });
}

/** The type of a role that is not predefined. @throws Refusal `InvalidOperationError` for a predefined role */
export function requireCustomRole({ name, type }: Pick<Role, 'name' | 'type'>): RoleInput['type'] {
  if (type === 'root-custom' || type === 'custom') return type;
  throw refusal('InvalidOperationError', `${name} is a predefined role. It can neither be changed nor deleted.`);
}

/** The role with an id that an account or an invitation link has. @throws Error, a defect, when there is none */
export function roleWithId(roles: readonly Role[], id: number): Role {
  const role = roles.find((candidate) => candidate.id === id);
  if (role === undefined) throw new Error(`There is no role ${id}, though it is assigned.`);
  return role;
}

export function roleCreated(role: RoleWithGrants): EventContent {
  return { type: 'role-created', data: role };
}

/** The event of a role that is updated; none if nothing changes. */
export function roleUpdated(before: RoleWithGrants, after: RoleWithGrants): readonly EventContent[] {
  return eventsOfUpdate({ type: 'role-updated', data: after, preData: before });
}

export function roleDeleted(role: RoleWithGrants): EventContent {
  return { type: 'role-deleted', preData: role };
}

/** Whether the caller has the permission in the project, or in every project if none is named, and in at least the environments of the grant. */
export function holdsPermission(
  { grants }: Pick<Caller, 'grants'>,
  { name, environment }: RoleGrant,
  project: string | undefined,
): boolean {
  const scope = { project: project ?? null, environment: environment ?? null };
  return grants.some((grant) => grantIncludes(grant, name, scope));
}

/**
 * Prevents privilege escalation: a caller may grant only permissions that the caller has in the project.
 * @throws Refusal `NoAccessError` that names the first permission that the caller lacks
 */
export function requireMayGrant(caller: Caller, project: string, grants: readonly RoleGrant[]): void {
  for (const grant of grants)
    if (!holdsPermission(caller, grant, project)) throw noAccess([grant.name], grant.environment ?? undefined);
}

const everyPermission: readonly Permission[] = ['ADMIN', ...permissionCatalogue.keys()];

/**
 * Which permissions a user has: root permissions, those in the project, and those in the environment of the project if one is named.
 * @param user undefined for an inactive user, who has no permission
 */
export function permissionMatrix(
  user: Caller | undefined,
  project: string | undefined,
  environment: string | undefined,
): UserPermissions['matrix'] {
  const ofType = (type: string, scope: { readonly environment?: string } = {}, inProject?: string) =>
    everyPermission
      .map(describePermission)
      .filter((permission) => permission.type === type)
      .map((permission) => ({
        ...permission,
        ...scope,
        hasPermission: user !== undefined && holdsPermission(user, { ...permission, ...scope }, inProject),
      }));
  return {
    root: ofType('root'),
    project: ofType('project', {}, project),
    environment: environment === undefined ? [] : ofType('environment', { environment }, project),
  };
}
