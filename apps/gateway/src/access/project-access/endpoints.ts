import { implement } from '@bunting/bus';
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
import { userOf } from '../users/user-store.ts';
import type { RoleHolder } from './project-role-store.ts';
import {
  addRoles,
  type ProjectRoles,
  removeRoles,
  replacementRoles,
  replaceRoles,
  requireAssignable,
  type RoleAssignment,
  type RolesDecision,
  rolesToAdd,
  rolesToSet,
  setRoles,
} from './project-roles.ts';

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
const changeProjectRoles = async (
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

/** The roles of a user or a group, as the API returns them. */
const rolesOf = ({ roles, addedAt }: RoleHolder) => ({ roles: [...roles], roleId: roles[0] ?? 0, addedAt });

const holdersOf = (role: Role, holders: readonly RoleHolder[]): number[] =>
  holders.filter(({ roles }) => roles.includes(role.id)).map(({ id }) => id);

export const getProjectAccessEndpoint = ({ reads, projectAndEnvironmentDirectory }: GatewayContext) =>
  implement(GetProjectAccess, async (request) => {
    const { projectId } = request.params;
    await projectAndEnvironmentDirectory.requireProject(request, projectId);
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
  });

export const listProjectRoleHoldersEndpoint = ({ reads, projectAndEnvironmentDirectory }: GatewayContext) =>
  implement(ListProjectRoleHolders, async (request) => {
    const { projectId } = request.params;
    await projectAndEnvironmentDirectory.requireProject(request, projectId);
    return { version: 1 as const, ...(await reads.access.listRoleHolders(projectId)) };
  });

/**
 * Runs a write to the roles of a project, in a transaction during which the project is not deleted.
 * @throws Refusal `NotFoundError` for a missing project
 */
const withExistingProject = async (
  {
    transaction,
    projectAndEnvironmentDirectory,
  }: Pick<GatewayContext, 'transaction' | 'projectAndEnvironmentDirectory'>,
  request: GatewayWriteContext & Parameters<GatewayContext['projectAndEnvironmentDirectory']['requireProject']>[0],
  project: string,
  write: (tx: Transaction) => Promise<void>,
) => {
  await projectAndEnvironmentDirectory.requireProject(request, project);
  await projectAndEnvironmentDirectory.awaitProjection([project]);
  return transaction(request, async (tx) => {
    await tx.lockExistingProjects([project]);
    await write(tx);
    return null;
  });
};

export const addProjectAccessEndpoint = (context: GatewayContext) =>
  implement(AddProjectAccess, (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    return withExistingProject(context, request, project, (tx) =>
      changeProjectRoles(tx, { caller, project, ...rolesToAdd(body) }, (before) => addRoles(before, project, body)),
    );
  });

/** Removes all roles of a group in a project, and so its access. The group itself stays. */
export const removeProjectGroupEndpoint = (context: GatewayContext) =>
  implement(RemoveProjectGroup, (request) => {
    const { caller, params } = request;
    const project = params.projectId;
    const assignee = { type: 'group', id: params.groupId } as const;
    return withExistingProject(context, request, project, (tx) =>
      changeProjectRoles(tx, { caller, project, ...replacementRoles(assignee, []) }, (before) =>
        removeRoles(before, project, assignee),
      ),
    );
  });

/** Removes all roles of a user in a project, and so the access. The user itself stays. */
export const removeProjectUserEndpoint = (context: GatewayContext) =>
  implement(RemoveProjectUser, (request) => {
    const { caller, params } = request;
    const project = params.projectId;
    const assignee = { type: 'user', id: params.userId } as const;
    return withExistingProject(context, request, project, (tx) =>
      changeProjectRoles(tx, { caller, project, ...replacementRoles(assignee, []) }, (before) =>
        removeRoles(before, project, assignee),
      ),
    );
  });

export const setProjectAccessEndpoint = (context: GatewayContext) =>
  implement(SetProjectAccess, (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    return withExistingProject(context, request, project, (tx) =>
      changeProjectRoles(tx, { caller, project, ...rolesToSet(body) }, (before) => setRoles(before, project, body)),
    );
  });

export const setProjectGroupRolesEndpoint = (context: GatewayContext) =>
  implement(SetProjectGroupRoles, (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    const assignee = { type: 'group', id: params.groupId } as const;
    return withExistingProject(context, request, project, async (tx) => {
      await tx.groups.getForUpdate(assignee.id);
      await changeProjectRoles(tx, { caller, project, ...replacementRoles(assignee, body.roles) }, (before) =>
        replaceRoles(before, project, assignee, body.roles),
      );
    });
  });

export const setProjectUserRolesEndpoint = (context: GatewayContext) =>
  implement(SetProjectUserRoles, (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    const assignee = { type: 'user', id: params.userId } as const;
    return withExistingProject(context, request, project, async (tx) => {
      if ((await tx.users.findExisting([assignee.id])).length === 0) throw userNotFound();
      await changeProjectRoles(tx, { caller, project, ...replacementRoles(assignee, body.roles) }, (before) =>
        replaceRoles(before, project, assignee, body.roles),
      );
    });
  });
