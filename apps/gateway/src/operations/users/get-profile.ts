import { implement } from '@bunting/bus';
import { GetProfile, may, type Role } from '@bunting/contracts';
import { isSomebody, predefinedRole } from '../../domain/token-scope.ts';
import type { GatewayContext } from '../context.ts';

export const getProfileEndpoint = ({ work, places }: GatewayContext) =>
  implement(GetProfile, async (request) => {
    const { caller } = request;
    const isAdmin = may(caller, ['ADMIN']);
    const everyProject = isAdmin ? await places.visibleProjects(request) : undefined;
    return work(request, async ({ people, projectAccess, roles }) => {
      const user = isSomebody(caller) ? await people.read(caller.id) : undefined;
      const held = user?.rootRole ?? (isAdmin ? predefinedRole.admin : predefinedRole.viewer);
      return {
        rootRole: (await roles.list()).find(({ id }) => id === held) as Role,
        projects: everyProject ?? (await projectAccess.projectsOfUser(caller.id)),
        features: [],
        subscriptions: [],
      };
    });
  });
