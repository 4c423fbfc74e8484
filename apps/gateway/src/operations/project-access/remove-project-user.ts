import { implement } from '@bunting/bus';
import { RemoveProjectUser } from '@bunting/contracts';
import { setHolderRoles } from './set-holder-roles.ts';
import type { GatewayContext } from '../context.ts';

export const removeProjectUserEndpoint = ({ transaction, catalogue }: GatewayContext) =>
  implement(RemoveProjectUser, async (request) => {
    const { caller, params } = request;
    const { projectId: project, userId: id } = params;
    await catalogue.requireProject(request, project);
    await catalogue.awaitKnown([project]);
    return transaction(request, async (tx) => {
      await tx.lockExistingProjects([project]);
      const type = 'project-access-user-roles-deleted';
      await setHolderRoles(tx, { caller, project, holder: 'user', id, roles: [], type });
      return null;
    });
  });
