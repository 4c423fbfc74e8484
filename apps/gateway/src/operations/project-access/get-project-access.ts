import { implement } from '@bunting/bus';
import { GetProjectAccess, maySee, type Role } from '@bunting/contracts';
import { userOf } from '../../access/users/user-store.ts';
import type { RoleHolder } from '../../access/project-access/project-role-store.ts';
import type { GatewayContext } from '../../access/context.ts';

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
