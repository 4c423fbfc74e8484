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

/** A change of the roles in a project. */
export interface RolesChange extends RequestedRoles {
  /** @throws Refusal `ConflictError` for a project that loses its last owner */
  readonly decide: (before: ProjectRoles, project: string) => RolesDecision;
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

/** Sets the roles in a project, in place of all earlier ones. */
export function setRoles({ roles }: SetProjectAccessBody): RolesChange {
  const byAssignee = (assignees: 'users' | 'groups'): RolesByAssignee => {
    const rolesByAssignee = new Map<number, number[]>();
    for (const role of roles)
      for (const id of role[assignees] ?? []) rolesByAssignee.set(id, union(rolesByAssignee.get(id), [role.id]));
    return rolesByAssignee;
  };
  const requested = { users: byAssignee('users'), groups: byAssignee('groups') };
  return {
    roles: [...new Set([...requested.users.values(), ...requested.groups.values()].flat())],
    requested,
    decide: (before, project) => {
      requireOwnerLeft(before, requested);
      const [data, preData] = [projectRolesEventData(requested), projectRolesEventData(before)];
      return { roles: requested, events: eventsOfUpdate({ type: 'project-access-updated', project, data, preData }) };
    },
  };
}

/** Adds roles of users and groups in a project to those that they have, each once. */
export function addRoles(body: AddProjectAccessBody): RolesChange {
  const { users, groups } = body;
  const roles = [...new Set(body.roles)];
  const withRoles = (ids: readonly number[]): RolesByAssignee => new Map(ids.map((id) => [id, roles]));
  const merge = (earlier: RolesByAssignee, ids: readonly number[]): RolesByAssignee =>
    new Map([...earlier, ...ids.map((id) => [id, union(earlier.get(id), roles)] as const)]);
  return {
    roles,
    requested: { users: withRoles(users), groups: withRoles(groups) },
    decide: (before, project) => {
      const after = { users: merge(before.users, users), groups: merge(before.groups, groups) };
      const isChanged = !isEqual(projectRolesEventData(after), projectRolesEventData(before));
      const event = { type: 'project-access-added', project, data: { users, groups, roles } } as const;
      return { roles: after, events: isChanged ? [event] : [] };
    },
  };
}

/** A user or a group. */
export interface Assignee {
  readonly type: AssigneeType;
  readonly id: number;
}

function withRolesOf(before: ProjectRoles, { type, id }: Assignee, roles: readonly number[]): ProjectRoles {
  return { ...before, [`${type}s`]: new Map([...before[`${type}s`], [id, roles]]) };
}

/** Replaces the roles of a user or a group in a project; without any it loses its access. */
export function replaceRoles(
  assignee: Assignee,
  replacement: readonly number[],
  verb: 'updated' | 'deleted' = 'updated',
): RolesChange {
  const { type, id } = assignee;
  const roles = union(replacement);
  const eventData = (list: readonly number[] = []) => (list.length === 0 ? null : { [`${type}Id`]: id, roles: list });
  return {
    roles,
    requested: roles.length === 0 ? noRoles : withRolesOf(noRoles, assignee, roles),
    decide: (before, project) => {
      const after = withRolesOf(before, assignee, roles);
      requireOwnerLeft(before, after);
      const [data, preData] = [eventData(roles), eventData(before[`${type}s`].get(id))];
      const event = { type: `project-access-${type}-roles-${verb}`, project, data, preData } as const;
      return { roles: after, events: eventsOfUpdate(event) };
    },
  };
}

/** Removes all roles of a user or a group in a project. */
export function removeRoles(assignee: Assignee): RolesChange {
  return replaceRoles(assignee, [], 'deleted');
}
