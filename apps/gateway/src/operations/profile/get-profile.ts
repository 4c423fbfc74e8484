import { implement } from '@bunting/bus';
import { GetProfile, isAdministrator } from '@bunting/contracts';
import { hasAccount } from '../../domain/accounts/accounts.ts';
import { predefinedRole, roleWithId } from '../../access/roles/role.ts';
import type { GatewayContext } from '../../access/context.ts';

export const getProfileEndpoint = ({ reads, projectAndEnvironmentDirectory }: GatewayContext) =>
  implement(GetProfile, async (request) => {
    const { caller } = request;
    const isAdmin = isAdministrator(caller);
    const user = hasAccount(caller) ? await reads.users.find(caller.id) : undefined;
    const rootRoleId = user?.rootRole ?? (isAdmin ? predefinedRole.admin : predefinedRole.viewer);
    return {
      rootRole: roleWithId(await reads.roles.list(), rootRoleId),
      projects: isAdmin
        ? await projectAndEnvironmentDirectory.visibleProjects(request)
        : await reads.projectRoles.listProjectsOfUser(caller.id),
      features: [],
      subscriptions: [],
    };
  });
