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
  type ProjectRoles,
  removeRoles,
  replacementRoles,
  replaceRoles,
  type RequestedRoles,
  requireAssignable,
  type RoleAssignment,
  type RolesDecision,
  rolesToAdd,
  rolesToSet,
  setRoles,
} from './project-roles.ts';

export function projectAccessEndpoints({
  transaction,
  reads,
  projectAndEnvironmentDirectory: directory,
}: GatewayContext): readonly Endpoint[] {
  /**
   * Changes the roles in a project, in a transaction during which it is not deleted.
   * @throws Refusal `NotFoundError` for a missing project, and as `changeProjectRoles` does
   */
  async function changeRoles(
    request: GatewayWriteContext & DirectoryRequest & { readonly params: { readonly projectId: string } },
    requested: RequestedRoles,
    decide: (before: ProjectRoles, project: string) => RolesDecision,
    requireAssignee?: (tx: Transaction) => Promise<unknown>,
  ) {
    const { caller, params } = request;
    const { projectId: project } = params;
    await directory.requireProject(request, project);
    await directory.awaitProjection([project]);
    return transaction(request, async (tx) => {
      await tx.lockExistingProjects([project]);
      await requireAssignee?.(tx);
      await changeProjectRoles(tx, { caller, project, ...requested }, (before) => decide(before, project));
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
    implement(AddProjectAccess, (request) =>
      changeRoles(request, rolesToAdd(request.body), (before, project) => addRoles(before, project, request.body)),
    ),
    implement(SetProjectAccess, (request) =>
      changeRoles(request, rolesToSet(request.body), (before, project) => setRoles(before, project, request.body)),
    ),
    implement(SetProjectGroupRoles, (request) => {
      const assignee = { type: 'group', id: request.params.groupId } as const;
      const { roles } = request.body;
      return changeRoles(
        request,
        replacementRoles(assignee, roles),
        (before, project) => replaceRoles(before, project, assignee, roles),
        (tx) => tx.groups.getForUpdate(assignee.id),
      );
    }),
    implement(SetProjectUserRoles, (request) => {
      const assignee = { type: 'user', id: request.params.userId } as const;
      const { roles } = request.body;
      return changeRoles(
        request,
        replacementRoles(assignee, roles),
        (before, project) => replaceRoles(before, project, assignee, roles),
        async (tx) => {
          if ((await tx.users.findExisting([assignee.id])).length === 0) throw userNotFound();
        },
      );
    }),
    // Removes all roles of a group in a project, and so its access. The group itself stays.
    implement(RemoveProjectGroup, (request) => {
      const assignee = { type: 'group', id: request.params.groupId } as const;
      return changeRoles(request, replacementRoles(assignee, []), (before, project) =>
        removeRoles(before, project, assignee),
      );
    }),
    // Removes all roles of a user in a project, and so the access. The user itself stays.
    implement(RemoveProjectUser, (request) => {
      const assignee = { type: 'user', id: request.params.userId } as const;
      return changeRoles(request, replacementRoles(assignee, []), (before, project) =>
        removeRoles(before, project, assignee),
      );
    }),
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

/**
 * Changes the roles in a project, which are locked until the transaction ends. Emits an event if they changed.
 * @throws Refusal as `requireAssignable` and `decide` do
 */
async function changeProjectRoles(
  tx: Transaction,
  assignment: Omit<RoleAssignment, 'before'>,
  decide: (before: ProjectRoles) => RolesDecision,
): Promise<void> {
  const { project } = assignment;
  const before = await tx.projectRoles.getForUpdate(project);
  await requireAssignableInProject(tx, { ...assignment, before });
  const { roles, events } = decide(before);
  if (events.length === 0) return;
  await tx.projectRoles.save(project, before, roles, events);
}

function rolesOf({ roles, addedAt }: RoleHolder) {
  return { roles: [...roles], roleId: roles[0] ?? 0, addedAt };
}

function holdersOf(role: Role, holders: readonly RoleHolder[]): number[] {
  return holders.filter(({ roles }) => roles.includes(role.id)).map(({ id }) => id);
}
