import { type Endpoint, implement } from '@bunting/bus';
import {
  AddProjectAccess,
  GetProjectAccess,
  ListProjectRoleHolders,
  maySee,
  RemoveProjectGroup,
  RemoveProjectUser,
  type Role,
  SetProjectAccess,
  SetProjectGroupRoles,
  SetProjectUserRoles,
} from '@bunting/contracts';
import type { GatewayWriteContext, Transaction } from '../../unit-of-work/unit-of-work.ts';
import type { GatewayContext } from '../context.ts';
import { userNotFound } from '../refusals.ts';
import type { DirectoryRequest } from '../rights/directory.ts';
import { userOf } from '../users/user-store.ts';
import type { RoleHolder } from './project-role-store.ts';
import {
  addRoles,
  removeRoles,
  replaceRoles,
  requireAssignable,
  type RoleAssignment,
  type RolesChange,
  setRoles,
} from './project-roles.ts';

export function projectAccessEndpoints({
  transaction,
  reads,
  projectAndEnvironmentDirectory: directory,
}: GatewayContext): readonly Endpoint[] {
  /**
   * Changes the roles in a project, in a transaction during which it is not deleted.
   * @throws Refusal `NotFoundError` for a missing project, and as `requireAssignable` and the change do
   */
  async function changeRoles(
    request: GatewayWriteContext & DirectoryRequest & { readonly params: { readonly projectId: string } },
    change: RolesChange,
    requireAssignee?: (tx: Transaction) => Promise<unknown>,
  ) {
    const { projectId: project } = request.params;
    await directory.requireProject(request, project);
    await directory.awaitProjection([project]);
    return transaction(request, async (tx) => {
      await tx.lockExistingProjects([project]);
      await requireAssignee?.(tx);
      // Locked until the transaction ends.
      const before = await tx.projectRoles.getForUpdate(project);
      await requireAssignableInProject(tx, { caller: request.caller, project, before, ...change });
      const { roles, events } = change.decide(before, project);
      if (events.length > 0) await tx.projectRoles.save(project, before, roles, events);
      return null;
    });
  }

  return [
    implement(GetProjectAccess, async (request) => {
      const { projectId } = request.params;
      await directory.requireProject(request, projectId);
      const { users, groups: groupHolders } = await reads.projectRoles.list(projectId);
      const groups = new Map(
        (await reads.groups.list(groupHolders.map(({ id }) => id))).map((group) => [group.id, group]),
      );
      const roles = (await reads.roles.list()).filter(({ type }) => type === 'project' || type === 'custom');
      return {
        version: 1 as const,
        users: users.map((row) => ({ ...userOf(row), ...rolesOf(row) })),
        groups: groupHolders.flatMap((holder) => {
          const group = groups.get(holder.id);
          if (group === undefined) return [];
          const projects = group.projects.filter((project) => maySee(request.caller, project));
          return [{ ...group, projects, ...rolesOf(holder) }];
        }),
        roles: roles.map((role) => ({ ...role, users: holdersOf(role, users), groups: holdersOf(role, groupHolders) })),
      };
    }),
    implement(ListProjectRoleHolders, async (request) => {
      const { projectId } = request.params;
      await directory.requireProject(request, projectId);
      return { version: 1 as const, ...(await reads.access.listRoleHolders(projectId)) };
    }),
    implement(AddProjectAccess, (request) => changeRoles(request, addRoles(request.body))),
    implement(SetProjectAccess, (request) => changeRoles(request, setRoles(request.body))),
    implement(SetProjectGroupRoles, (request) => {
      const { groupId: id } = request.params;
      const change = replaceRoles({ type: 'group', id }, request.body.roles);
      return changeRoles(request, change, (tx) => tx.groups.getForUpdate(id));
    }),
    implement(SetProjectUserRoles, (request) => {
      const { userId: id } = request.params;
      return changeRoles(request, replaceRoles({ type: 'user', id }, request.body.roles), async (tx) => {
        if ((await tx.users.findExisting([id])).length === 0) throw userNotFound();
      });
    }),
    // The group or the user itself stays.
    implement(RemoveProjectGroup, (request) =>
      changeRoles(request, removeRoles({ type: 'group', id: request.params.groupId })),
    ),
    implement(RemoveProjectUser, (request) =>
      changeRoles(request, removeRoles({ type: 'user', id: request.params.userId })),
    ),
  ];
}

/** Loads the roles, users and groups of a request, and checks that the caller may assign them. @throws Refusal as `requireAssignable` does */
async function requireAssignableInProject(
  { roles, users, groups }: Pick<Transaction, 'roles' | 'users' | 'groups'>,
  assignment: RoleAssignment,
): Promise<void> {
  const [userIds, groupIds] = [[...assignment.requested.users.keys()], [...assignment.requested.groups.keys()]];
  requireAssignable(assignment, {
    grants: assignment.roles.length === 0 ? new Map() : await roles.findProjectGrants(assignment.roles),
    users: userIds.length === 0 ? [] : await users.findExisting(userIds),
    groups: groupIds.length === 0 ? [] : (await groups.list(groupIds)).map(({ id }) => id),
  });
}

function rolesOf({ roles, addedAt }: RoleHolder) {
  return { roles: [...roles], roleId: roles[0] ?? 0, addedAt };
}

function holdersOf(role: Role, holders: readonly RoleHolder[]): number[] {
  return holders.filter(({ roles }) => roles.includes(role.id)).map(({ id }) => id);
}
