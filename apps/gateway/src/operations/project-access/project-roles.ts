import { type Caller, refusal } from '@bunting/contracts';
import { requireMayGrant } from '../../domain/roles.ts';
import { badRequest } from '../../domain/refusals.ts';
import type { AssigneeType } from '../../persistence/rights/project-role-repository.ts';
import type { GatewayTransaction } from '../../persistence/unit-of-work.ts';

/** The roles of users and groups in a project, by their ids. */
export interface ProjectRoles {
  readonly users: ReadonlyMap<number, readonly number[]>;
  readonly groups: ReadonlyMap<number, readonly number[]>;
}

/** The roles in a project, locked until the transaction ends. */
export const lockProjectRoles = async (
  { projectRoles }: Pick<GatewayTransaction, 'projectRoles'>,
  project: string,
): Promise<ProjectRoles> => {
  const { users, groups } = await projectRoles.of(project);
  const byId = (held: readonly { readonly id: number; readonly roles: readonly number[] }[]) =>
    new Map(held.map(({ id, roles }) => [id, roles]));
  return { users: byId(users), groups: byId(groups) };
};

/** The data of events: the users and groups of each role. */
export const rolesEventData = ({ users, groups }: ProjectRoles) => {
  const holdersByRole = new Map<number, { users: number[]; groups: number[] }>();
  const put = (which: 'users' | 'groups', held: ReadonlyMap<number, readonly number[]>): void => {
    for (const [id, roles] of held) {
      for (const role of roles) {
        const holders = holdersByRole.get(role) ?? { users: [], groups: [] };
        holders[which].push(id);
        holdersByRole.set(role, holders);
      }
    }
  };
  put('users', users);
  put('groups', groups);
  const roles = [...holdersByRole].toSorted(([one], [other]) => one - other).map(([id, held]) => ({ id, ...held }));
  return { roles };
};

interface RoleAssignment {
  readonly caller: Caller;
  readonly project: string;
  readonly assignee: AssigneeType;
  readonly ids: readonly number[];
  readonly roles: readonly number[];
  /** path of the property that names them, for refusals */
  readonly bodyPath: string;
}

/**
 * Checks that the roles and their assignees exist and that the caller may grant the roles. Those that an assignee already has are not
 * granted again.
 * @throws Refusal 400 for a missing role, user or group; `NoAccessError` for a permission that the caller lacks
 */
export const requireMayGrantRoles = async (
  tx: Pick<GatewayTransaction, 'roles' | 'users' | 'groups'>,
  before: ProjectRoles,
  { caller, project, assignee, ids, roles, bodyPath }: RoleAssignment,
): Promise<void> => {
  const grants = await tx.roles.findProjectGrants(roles);
  const unknown = roles.find((id) => !grants.has(id));
  if (unknown !== undefined) throw badRequest(`There is no role ${unknown} for projects`, `${bodyPath}/roles`);
  const existing =
    assignee === 'user' ? await tx.users.findExisting(ids) : (await tx.groups.list(ids)).map(({ id }) => id);
  const missing = ids.find((id) => !existing.includes(id));
  if (missing !== undefined) throw badRequest(`There is no ${assignee} ${missing}`, `${bodyPath}/${assignee}s`);
  const held = assignee === 'user' ? before.users : before.groups;
  const given = roles.filter((role) => ids.some((id) => !(held.get(id) ?? []).includes(role)));
  for (const role of given) requireMayGrant(caller, project, grants.get(role) ?? []);
};

/** @throws Refusal `ConflictError` for a project that loses its last owner */
export const requireOwnerLeft = async (
  { projectRoles }: Pick<GatewayTransaction, 'projectRoles'>,
  project: string,
  hadOwner: boolean,
): Promise<void> => {
  if (!hadOwner || (await projectRoles.hasOwner(project))) return;
  throw refusal('ConflictError', 'A project must have at least one owner');
};
