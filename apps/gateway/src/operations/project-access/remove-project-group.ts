import { implement } from '@bunting/bus';
import { RemoveProjectGroup } from '@bunting/contracts';
import { setHolderRoles } from './set-holder-roles.ts';
import type { GatewayContext } from '../context.ts';
import { withExistingProject } from './with-existing-project.ts';

export const removeProjectGroupEndpoint = (context: GatewayContext) =>
  implement(RemoveProjectGroup, (request) => {
    const { caller, params } = request;
    const { projectId, groupId } = params;
    return withExistingProject(context, request, projectId, async (tx) => {
      const type = 'project-access-group-roles-deleted';
      await setHolderRoles(tx, { caller, project: projectId, holder: 'group', id: groupId, roles: [], type });
    });
  });
