import { implement } from '@bunting/bus';
import { RemoveProjectGroup } from '@bunting/contracts';
import { setAssigneeRoles } from './set-assignee-roles.ts';
import type { GatewayContext } from '../context.ts';
import { withExistingProject } from './with-existing-project.ts';

export const removeProjectGroupEndpoint = (context: GatewayContext) =>
  implement(RemoveProjectGroup, (request) => {
    const { caller, params } = request;
    const { projectId, groupId } = params;
    return withExistingProject(context, request, projectId, async (tx) => {
      const type = 'project-access-group-roles-deleted';
      await setAssigneeRoles(tx, caller, { project: projectId, assignee: 'group', id: groupId, roles: [], type });
    });
  });
