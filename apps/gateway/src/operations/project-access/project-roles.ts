import { type Caller, refusal } from '@bunting/contracts';
import { requireMayGive } from '../../domain/roles.ts';
import { wrong } from '../../domain/refusals.ts';
import type { Holder } from '../../persistence/rights/project-role-repository.ts';
import type { Work } from '../../persistence/unit-of-work.ts';

/** Who has which roles in a project, by the ids of users and groups. */
export interface Roles {
  readonly users: ReadonlyMap<number, readonly number[]>;
  readonly groups: ReadonlyMap<number, readonly number[]>;
}

/** Who has which role there; nobody else changes it until the end of this work. */
export const rolesIn = async ({ projectAccess }: Pick<Work, 'projectAccess'>, project: string): Promise<Roles> => {
  const { users, groups } = await projectAccess.of(project);
  const byId = (held: readonly { readonly id: number; readonly roles: readonly number[] }[]) =>
    new Map(held.map(({ id, roles }) => [id, roles]));
  return { users: byId(users), groups: byId(groups) };
};

/** What events tell: which role has whom. */
export const toldRoles = ({ users, groups }: Roles) => {
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

interface Giving {
  readonly caller: Caller;
  readonly project: string;
  readonly holder: Holder;
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
export const requireMayGiveRoles = async (
  tx: Pick<Work, 'roles' | 'people' | 'groups'>,
  before: Roles,
  { caller, project, holder, ids, roles, at }: Giving,
): Promise<void> => {
  const known = await tx.roles.ofProjects(roles);
  const unknown = roles.find((id) => !known.has(id));
  if (unknown !== undefined) throw wrong(`There is no role ${unknown} that a project could give`, `${at}/roles`);
  const there = holder === 'user' ? await tx.people.existing(ids) : (await tx.groups.list(ids)).map(({ id }) => id);
  const missing = ids.find((id) => !there.includes(id));
  if (missing !== undefined) throw wrong(`There is no ${holder} ${missing}`, `${at}/${holder}s`);
  const held = holder === 'user' ? before.users : before.groups;
  const given = roles.filter((role) => ids.some((id) => !(held.get(id) ?? []).includes(role)));
  for (const role of given) requireMayGive(caller, project, known.get(role) ?? []);
};

/** @throws Refusal `ConflictError` for a project that had an owner and has none any more. */
export const requireOwnerLeft = async (
  { projectAccess }: Pick<Work, 'projectAccess'>,
  project: string,
  hadOwner: boolean,
): Promise<void> => {
  if (!hadOwner || (await projectAccess.hasOwner(project))) return;
  throw refusal('ConflictError', 'A project must have at least one owner');
};
