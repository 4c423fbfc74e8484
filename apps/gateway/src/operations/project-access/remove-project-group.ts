import { implement } from '@bunting/bus';
import { RemoveProjectGroup } from '@bunting/contracts';
import { setHolderRoles } from './set-holder-roles.ts';
import type { GatewayContext } from '../context.ts';

export const removeProjectGroupEndpoint = ({ transaction, catalogue }: GatewayContext) =>
  implement(RemoveProjectGroup, async (request) => {
    const { caller, params } = request;
    const { projectId: project, groupId: id } = params;
    await catalogue.requireProject(request, project);
    await catalogue.awaitKnown([project]);
    return transaction(request, async (tx) => {
      await tx.lockExistingProjects([project]);
      const type = 'project-access-group-roles-deleted';
      await setHolderRoles(tx, { caller, project, holder: 'group', id, roles: [], type });
      return null;
    });
  });
