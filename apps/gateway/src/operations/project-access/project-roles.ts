import { type ProjectRoles, requireMayAssign, type RoleAssignment } from '../../domain/rights/project-roles.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** The roles in a project, locked until the transaction ends. */
export const lockProjectRoles = async (
  { projectRoles }: Pick<Transaction, 'projectRoles'>,
  project: string,
): Promise<ProjectRoles> => {
  const { users, groups } = await projectRoles.of(project);
  const byId = (holders: readonly { readonly id: number; readonly roles: readonly number[] }[]) =>
    new Map(holders.map(({ id, roles }) => [id, roles]));
  return { users: byId(users), groups: byId(groups) };
};

/** Loads the roles, users and groups of a request, and checks that the caller may assign them. @throws Refusal as `requireMayAssign` does */
export const authoriseAssignment = async (
  { roles, users, groups }: Pick<Transaction, 'roles' | 'users' | 'groups'>,
  assignment: RoleAssignment,
): Promise<void> => {
  const groupIds = [...assignment.requested.groups.keys()];
  requireMayAssign(assignment, {
    grants: await roles.findProjectGrants(assignment.roles),
    users: await users.findExisting([...assignment.requested.users.keys()]),
    groups: groupIds.length === 0 ? [] : (await groups.list(groupIds)).map(({ id }) => id),
  });
};
