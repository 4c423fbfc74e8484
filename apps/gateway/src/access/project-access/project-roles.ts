import type { EventContent } from '@bunting/contracts';
import {
  type AddProjectAccessBody,
  type Caller,
  invalidProperty,
  isEqual,
  refusal,
  type SetProjectAccessBody,
} from '@bunting/contracts';
import { eventsOfUpdate } from '../events.ts';
import { unknownAssignee } from '../refusals.ts';
import { requireMayGrant, type RoleGrant, predefinedRole } from '../roles/role.ts';

export type AssigneeType = 'user' | 'group';

type RolesByAssignee = ReadonlyMap<number, readonly number[]>;

/** The roles of users and groups in a project, by their ids. */
export interface ProjectRoles {
  readonly users: RolesByAssignee;
  readonly groups: RolesByAssignee;
}

function union(...lists: (readonly number[] | undefined)[]): number[] {
  return [...new Set(lists.flatMap((list) => list ?? []))].toSorted((one, other) => one - other);
}

const noRoles: ProjectRoles = { users: new Map(), groups: new Map() };

/** What a request assigns: roles, and the users and groups that get them. */
export interface RequestedRoles {
  readonly roles: readonly number[];
  readonly requested: ProjectRoles;
}

/** The outcome of a write to the roles in a project: the roles after it, and its events; without an event, nothing changes. */
export interface RolesDecision {
  readonly roles: ProjectRoles;
  readonly events: readonly EventContent[];
}

/** The data of events: the users and groups of each role. */
export function projectRolesEventData({ users, groups }: ProjectRoles) {
  const idsWith = (role: number, roles: RolesByAssignee): number[] =>
    union([...roles].flatMap(([id, list]) => (list.includes(role) ? [id] : [])));
  const ids = union(...users.values(), ...groups.values());
  return { roles: ids.map((id) => ({ id, users: idsWith(id, users), groups: idsWith(id, groups) })) };
}

/** Those of the roles, users and groups of a request that exist. */
export interface ExistingRolesAndAssignees {
  readonly grants: ReadonlyMap<number, readonly RoleGrant[]>;
  readonly users: readonly number[];
  readonly groups: readonly number[];
}

export interface RoleAssignment extends RequestedRoles {
  readonly caller: Caller;
  readonly project: string;
  readonly before: ProjectRoles;
}

/**
 * Checks that the roles and their assignees exist and that the caller may grant the roles. Those that an assignee already has are not
 * granted again.
 * @throws Refusal 400 for a missing role, user or group; `NoAccessError` for a permission that the caller lacks
 */
export function requireAssignable(
  { caller, project, before, roles, requested }: RoleAssignment,
  existing: ExistingRolesAndAssignees,
): void {
  const unknown = roles.find((id) => !existing.grants.has(id));
  if (unknown !== undefined) throw invalidProperty(`There is no role ${unknown} for projects`, '/body/roles');
  for (const type of ['user', 'group'] as const) {
    const missing = [...requested[`${type}s`].keys()].find((id) => !existing[`${type}s`].includes(id));
    if (missing !== undefined) throw unknownAssignee(type, missing);
  }
  const isNew = (role: number, assignees: 'users' | 'groups'): boolean =>
    [...requested[assignees]].some(
      ([id, list]) => list.includes(role) && !(before[assignees].get(id) ?? []).includes(role),
    );
  for (const role of roles)
    if (isNew(role, 'users') || isNew(role, 'groups'))
      requireMayGrant(caller, project, existing.grants.get(role) ?? []);
}

function hasOwner({ users, groups }: ProjectRoles): boolean {
  return [...users.values(), ...groups.values()].some((roles) => roles.includes(predefinedRole.owner));
}

/** @throws Refusal `ConflictError` for a project that loses its last owner */
function requireOwnerLeft(before: ProjectRoles, after: ProjectRoles): void {
  if (hasOwner(before) && !hasOwner(after)) throw refusal('ConflictError', 'A project must have at least one owner');
}

/** The roles that a request sets in a project. */
export function rolesToSet({ roles }: SetProjectAccessBody): RequestedRoles {
  const byAssignee = (assignees: 'users' | 'groups'): RolesByAssignee => {
    const rolesByAssignee = new Map<number, number[]>();
    for (const role of roles)
      for (const id of role[assignees] ?? []) rolesByAssignee.set(id, union(rolesByAssignee.get(id), [role.id]));
    return rolesByAssignee;
  };
  const requested = { users: byAssignee('users'), groups: byAssignee('groups') };
  return { roles: [...new Set([...requested.users.values(), ...requested.groups.values()].flat())], requested };
}

/**
 * Sets the roles in a project, in place of all earlier ones.
 * @throws Refusal `ConflictError` for a project that loses its last owner
 */
export function setRoles(before: ProjectRoles, project: string, body: SetProjectAccessBody): RolesDecision {
  const { requested: after } = rolesToSet(body);
  requireOwnerLeft(before, after);
  const [data, preData] = [projectRolesEventData(after), projectRolesEventData(before)];
  return { roles: after, events: eventsOfUpdate({ type: 'project-access-updated', project, data, preData }) };
}

/** The roles that a request adds in a project, each once. */
export function rolesToAdd({ roles, users, groups }: AddProjectAccessBody): RequestedRoles {
  const added = [...new Set(roles)];
  const withRoles = (ids: readonly number[]): RolesByAssignee => new Map(ids.map((id) => [id, added]));
  return { roles: added, requested: { users: withRoles(users), groups: withRoles(groups) } };
}

/** Adds roles of users and groups in a project to those that they have. */
export function addRoles(before: ProjectRoles, project: string, body: AddProjectAccessBody): RolesDecision {
  const { roles, requested } = rolesToAdd(body);
  const merge = (earlier: RolesByAssignee, further: RolesByAssignee): RolesByAssignee =>
    new Map([...earlier, ...[...further].map(([id, list]) => [id, union(earlier.get(id), list)] as const)]);
  const after = { users: merge(before.users, requested.users), groups: merge(before.groups, requested.groups) };
  const isChanged = !isEqual(projectRolesEventData(after), projectRolesEventData(before));
  return {
    roles: after,
    events: isChanged
      ? [{ type: 'project-access-added', project, data: { users: body.users, groups: body.groups, roles } }]
      : [],
  };
}

/** A user or a group. */
export interface Assignee {
  readonly type: AssigneeType;
  readonly id: number;
}

function withRolesOf(before: ProjectRoles, { type, id }: Assignee, roles: readonly number[]): ProjectRoles {
  return {
    ...before,
    [`${type}s`]: new Map([...before[`${type}s`], [id, roles]]),
  };
}

/** The roles that a user or a group gets in place of all earlier ones, each once. */
export function replacementRoles(assignee: Assignee, roles: readonly number[]): RequestedRoles {
  return {
    roles: union(roles),
    requested: roles.length === 0 ? noRoles : withRolesOf(noRoles, assignee, union(roles)),
  };
}

function decideReplacement(
  before: ProjectRoles,
  project: string,
  {
    assignee,
    roles,
    verb,
  }: { readonly assignee: Assignee; readonly roles: readonly number[]; readonly verb: 'updated' | 'deleted' },
): RolesDecision {
  const { type, id } = assignee;
  const after = withRolesOf(before, assignee, union(roles));
  requireOwnerLeft(before, after);
  const eventData = (list: readonly number[] = []) => (list.length === 0 ? null : { [`${type}Id`]: id, roles: list });
  return {
    roles: after,
    events: eventsOfUpdate({
      type: `project-access-${type}-roles-${verb}`,
      project,
      data: eventData(after[`${type}s`].get(id)),
      preData: eventData(before[`${type}s`].get(id)),
    }),
  };
}

/**
 * Replaces the roles of a user or a group in a project.
 * @throws Refusal `ConflictError` for a project that loses its last owner
 */
export function replaceRoles(
  before: ProjectRoles,
  project: string,
  assignee: Assignee,
  roles: readonly number[],
): RolesDecision {
  return decideReplacement(before, project, { assignee, roles, verb: 'updated' });
}

/** Removes all roles of a user or a group in a project. @throws Refusal as `replaceRoles` does */
export function removeRoles(before: ProjectRoles, project: string, assignee: Assignee): RolesDecision {
  return decideReplacement(before, project, { assignee, roles: [], verb: 'deleted' });
}
