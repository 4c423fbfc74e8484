import { implement } from '@bunting/bus';
import { GetProjectAccess, maySee } from '@bunting/contracts';
import { userOf } from '../../persistence/accounts/user-repository.ts';
import type { RoleHolder } from '../../persistence/rights/project-role-repository.ts';
import type { GatewayContext } from '../context.ts';

const within = ({ roles, addedAt }: RoleHolder) => ({
  roles: [...roles],
  roleId: roles[0] ?? 0,
  addedAt,
});

export const getProjectAccessEndpoint = ({ transaction, projectDirectory }: GatewayContext) =>
  implement(GetProjectAccess, async (request) => {
    const { projectId } = request.params;
    await projectDirectory.requireProject(request, projectId);
    return transaction(request, async ({ projectRoles, groups, roles }) => {
      const held = await projectRoles.list(projectId);
      const named = new Map((await groups.list(held.groups.map(({ id }) => id))).map((group) => [group.id, group]));
      const given = (await roles.list()).filter(({ type }) => type === 'project' || type === 'custom');
      const whoHas = (role: number, holders: readonly RoleHolder[]) =>
        holders.filter(({ roles }) => roles.includes(role)).map(({ id }) => id);
      return {
        version: 1 as const,
        users: held.users.map((row) => ({ ...userOf(row), ...within(row) })),
        groups: held.groups.flatMap((row) => {
          const group = named.get(row.id);
          if (group === undefined) return [];
          const projects = group.projects.filter((project) => maySee(request.caller, project));
          return [{ ...group, projects, ...within(row) }];
        }),
        roles: given.map((role) => ({
          ...role,
          users: whoHas(role.id, held.users),
          groups: whoHas(role.id, held.groups),
        })),
      };
    });
  });
