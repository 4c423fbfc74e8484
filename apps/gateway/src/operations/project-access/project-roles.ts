import { type Caller, refusal } from '@bunting/contracts';
import { requireMayGrant } from '../../domain/roles.ts';
import { badRequest } from '../../domain/refusals.ts';
import type { HolderType } from '../../persistence/rights/project-role-repository.ts';
import type { GatewayTransaction } from '../../persistence/unit-of-work.ts';

/** Who has which roles in a project, by the ids of users and groups. */
export interface ProjectRoles {
  readonly users: ReadonlyMap<number, readonly number[]>;
  readonly groups: ReadonlyMap<number, readonly number[]>;
}

/** Who has which role there; nobody else changes it until the end of this work. */
export const lockProjectRoles = async (
  { projectRoles }: Pick<GatewayTransaction, 'projectRoles'>,
  project: string,
): Promise<ProjectRoles> => {
  const { users, groups } = await projectRoles.of(project);
  const byId = (held: readonly { readonly id: number; readonly roles: readonly number[] }[]) =>
    new Map(held.map(({ id, roles }) => [id, roles]));
  return { users: byId(users), groups: byId(groups) };
};

/** What events tell: which role has whom. */
export const rolesEventData = ({ users, groups }: ProjectRoles) => {
  const told = new Map<number, { users: number[]; groups: number[] }>();
  const put = (which: 'users' | 'groups', held: ReadonlyMap<number, readonly number[]>): void => {
    for (const [id, roles] of held) {
      for (const role of roles) {
        const known = told.get(role) ?? { users: [], groups: [] };
        known[which].push(id);
        told.set(role, known);
      }
    }
  };
  put('users', users);
  put('groups', groups);
  const roles = [...told].toSorted(([one], [other]) => one - other).map(([id, held]) => ({ id, ...held }));
  return { roles };
};

interface RoleAssignment {
  readonly caller: Caller;
  readonly project: string;
  readonly holder: HolderType;
  readonly ids: readonly number[];
  readonly roles: readonly number[];
  /** the property that names them */
  readonly at: string;
}

/**
 * Makes sure that the roles can be given in a project, to whom they are given, and by the caller: nobody gives what they do not have.
 * Roles that somebody has already are not given again.
 * @throws Refusal 400 for a role, a user or a group that there is not; `NoAccessError` for what the caller does not have.
 */
export const requireMayGrantRoles = async (
  tx: Pick<GatewayTransaction, 'roles' | 'users' | 'groups'>,
  before: ProjectRoles,
  { caller, project, holder, ids, roles, at }: RoleAssignment,
): Promise<void> => {
  const known = await tx.roles.findProjectGrants(roles);
  const unknown = roles.find((id) => !known.has(id));
  if (unknown !== undefined) throw badRequest(`There is no role ${unknown} that a project could give`, `${at}/roles`);
  const there = holder === 'user' ? await tx.users.findExisting(ids) : (await tx.groups.list(ids)).map(({ id }) => id);
  const missing = ids.find((id) => !there.includes(id));
  if (missing !== undefined) throw badRequest(`There is no ${holder} ${missing}`, `${at}/${holder}s`);
  const held = holder === 'user' ? before.users : before.groups;
  const given = roles.filter((role) => ids.some((id) => !(held.get(id) ?? []).includes(role)));
  for (const role of given) requireMayGrant(caller, project, known.get(role) ?? []);
};

/** @throws Refusal `ConflictError` for a project that had an owner and has none any more. */
export const requireOwnerLeft = async (
  { projectRoles }: Pick<GatewayTransaction, 'projectRoles'>,
  project: string,
  hadOwner: boolean,
): Promise<void> => {
  if (!hadOwner || (await projectRoles.hasOwner(project))) return;
  throw refusal('ConflictError', 'A project must have at least one owner');
};
