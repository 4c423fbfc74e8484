import {
  type ProjectRoles,
  requireAssignable,
  type RoleAssignment,
  type RolesDecision,
} from '../../access/project-access/project-roles.ts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';

/** Loads the roles, users and groups of a request, and checks that the caller may assign them. @throws Refusal as `requireAssignable` does */
const requireAssignableInProject = async (
  { roles, users, groups }: Pick<Transaction, 'roles' | 'users' | 'groups'>,
  assignment: RoleAssignment,
): Promise<void> => {
  const [userIds, groupIds] = [[...assignment.requested.users.keys()], [...assignment.requested.groups.keys()]];
  requireAssignable(assignment, {
    grants: assignment.roles.length === 0 ? new Map() : await roles.findProjectGrants(assignment.roles),
    users: userIds.length === 0 ? [] : await users.findExisting(userIds),
    groups: groupIds.length === 0 ? [] : (await groups.list(groupIds)).map(({ id }) => id),
  });
};

/**
 * Changes the roles in a project, which are locked until the transaction ends. Emits an event if they changed.
 * @throws Refusal as `requireAssignable` and `decide` do
 */
export const changeProjectRoles = async (
  tx: Transaction,
  assignment: Omit<RoleAssignment, 'before'>,
  decide: (before: ProjectRoles) => RolesDecision,
): Promise<void> => {
  const { project } = assignment;
  const before = await tx.projectRoles.getForUpdate(project);
  await requireAssignableInProject(tx, { ...assignment, before });
  const { roles, events } = decide(before);
  if (events.length === 0) return;
  await tx.projectRoles.save(project, before, roles, events);
};
