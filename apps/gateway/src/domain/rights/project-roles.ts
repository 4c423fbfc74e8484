import { type Caller, type EventType, isEqual, refusal, type SetProjectAccessBody } from '@bunting/contracts';
import type { AccessEvent } from '../access-event.ts';
import { badRequest, unknownAssignee } from '../refusals.ts';
import { requireMayGrant, type RoleGrant, predefinedRole } from './roles.ts';

/** What a role in a project is assigned to. */
export type AssigneeType = 'user' | 'group';

type RolesById = ReadonlyMap<number, readonly number[]>;

/** The roles of users and groups in a project, by their ids. */
export interface ProjectRoles {
  readonly users: RolesById;
  readonly groups: RolesById;
}

const union = (...lists: (readonly number[] | undefined)[]): number[] =>
  [...new Set(lists.flatMap((list) => list ?? []))].toSorted((one, other) => one - other);

const noRoles: ProjectRoles = { users: new Map(), groups: new Map() };

/** The requested roles of each user and group. */
export const requestedRoles = ({ roles }: SetProjectAccessBody): ProjectRoles => {
  const byId = (assignees: 'users' | 'groups'): RolesById => {
    const found = new Map<number, number[]>();
    for (const role of roles) for (const id of role[assignees] ?? []) found.set(id, union(found.get(id), [role.id]));
    return found;
  };
  return { users: byId('users'), groups: byId('groups') };
};

/** The roles in a project after users and groups have got further ones. */
export const withAddedRoles = (before: ProjectRoles, added: ProjectRoles): ProjectRoles => {
  const merge = (roles: RolesById, more: RolesById): RolesById =>
    new Map([...roles, ...[...more].map(([id, list]) => [id, union(roles.get(id), list)] as const)]);
  return { users: merge(before.users, added.users), groups: merge(before.groups, added.groups) };
};

/** The roles in a project after those of one user or group were replaced. */
export const withRolesOf = (
  before: ProjectRoles,
  assignee: AssigneeType,
  id: number,
  roles: readonly number[],
): ProjectRoles => ({ ...before, [`${assignee}s`]: new Map([...before[`${assignee}s`], [id, roles]]) });

/** The data of events: the users and groups of each role. */
export const projectRolesEventData = ({ users, groups }: ProjectRoles) => {
  const idsWith = (role: number, roles: RolesById): number[] =>
    union([...roles].flatMap(([id, list]) => (list.includes(role) ? [id] : [])));
  const ids = union(...users.values(), ...groups.values());
  return { roles: ids.map((id) => ({ id, users: idsWith(id, users), groups: idsWith(id, groups) })) };
};

/** What exists of the roles, users and groups that a request names. */
export interface ExistingAssignees {
  /** the grants of roles that can be assigned in projects, by the ids of the roles */
  readonly grants: ReadonlyMap<number, readonly RoleGrant[]>;
  readonly users: readonly number[];
  readonly groups: readonly number[];
}

export interface RoleAssignment {
  readonly caller: Caller;
  readonly project: string;
  readonly before: ProjectRoles;
  readonly roles: readonly number[];
  readonly requested: ProjectRoles;
}

/**
 * Checks that the roles and their assignees exist and that the caller may grant the roles. Those that an assignee already has are not
 * granted again.
 * @throws Refusal 400 for a missing role, user or group; `NoAccessError` for a permission that the caller lacks
 */
export const requireMayAssign = (
  { caller, project, before, roles, requested }: RoleAssignment,
  existing: ExistingAssignees,
): void => {
  const unknown = roles.find((id) => !existing.grants.has(id));
  if (unknown !== undefined) throw badRequest(`There is no role ${unknown} for projects`, '/body/roles');
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
};

const hasOwner = ({ users, groups }: ProjectRoles): boolean =>
  [...users.values(), ...groups.values()].some((roles) => roles.includes(predefinedRole.owner));

/** @throws Refusal `ConflictError` for a project that loses its last owner */
export const requireOwnerLeft = (before: ProjectRoles, after: ProjectRoles): void => {
  if (hasOwner(before) && !hasOwner(after)) throw refusal('ConflictError', 'A project must have at least one owner');
};

/** The new roles of a user or a group in a project, in place of all earlier ones. */
export interface ReplacedRoles {
  readonly project: string;
  readonly assignee: AssigneeType;
  readonly id: number;
  /** none to remove all of them */
  readonly roles: readonly number[];
  /** of the event */
  readonly type: EventType;
}

/** The new roles, each once, as the request that `requireMayAssign` checks. */
export const replacingAssignment = ({
  assignee,
  id,
  roles,
}: ReplacedRoles): Pick<RoleAssignment, 'roles' | 'requested'> => ({
  roles: union(roles),
  requested: withRolesOf(noRoles, assignee, id, union(roles)),
});

/**
 * The roles of a user or a group after they were replaced, and the event, unless nothing changes.
 * @throws Refusal `ConflictError` for a project that loses its last owner
 */
export const replaceRoles = (
  before: ProjectRoles,
  { project, assignee, id, roles, type }: ReplacedRoles,
): { readonly roles: readonly number[]; readonly events: readonly AccessEvent[] } => {
  const [rolesBefore, rolesAfter] = [before[`${assignee}s`].get(id) ?? [], union(roles)];
  if (isEqual(rolesBefore, rolesAfter)) return { roles: rolesAfter, events: [] };
  requireOwnerLeft(before, withRolesOf(before, assignee, id, rolesAfter));
  const eventData = (list: readonly number[]) => (list.length === 0 ? null : { [`${assignee}Id`]: id, roles: list });
  return {
    roles: rolesAfter,
    events: [{ type, project, data: eventData(rolesAfter), preData: eventData(rolesBefore) }],
  };
};
