import { implement } from '@bunting/bus';
import { GetProfile, may, type Role } from '@bunting/contracts';
import { hasAccount, predefinedRole } from '../../domain/token-scope.ts';
import type { GatewayContext } from '../context.ts';

export const getProfileEndpoint = ({ transaction, projectDirectory }: GatewayContext) =>
  implement(GetProfile, async (request) => {
    const { caller } = request;
    const isAdmin = may(caller, ['ADMIN']);
    const everyProject = isAdmin ? await projectDirectory.visibleProjects(request) : undefined;
    return transaction(request, async ({ users, projectRoles, roles }) => {
      const user = hasAccount(caller) ? await users.find(caller.id) : undefined;
      const held = user?.rootRole ?? (isAdmin ? predefinedRole.admin : predefinedRole.viewer);
      return {
        rootRole: (await roles.list()).find(({ id }) => id === held) as Role,
        projects: everyProject ?? (await projectRoles.listProjectsOfUser(caller.id)),
        features: [],
        subscriptions: [],
      };
    });
  });
