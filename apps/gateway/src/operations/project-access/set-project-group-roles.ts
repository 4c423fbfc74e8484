import { implement } from '@bunting/bus';
import { SetProjectGroupRoles } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { replaceAssigneeRoles } from './change-project-roles.ts';
import { withExistingProject } from './with-existing-project.ts';

export const setProjectGroupRolesEndpoint = (context: GatewayContext) =>
  implement(SetProjectGroupRoles, (request) => {
    const { caller, params, body } = request;
    const { projectId, groupId } = params;
    return withExistingProject(context, request, projectId, async (tx) => {
      await tx.groups.getForUpdate(groupId);
      const type = 'project-access-group-roles-updated';
      await replaceAssigneeRoles(tx, caller, projectId, { assignee: 'group', id: groupId, roles: body.roles, type });
    });
  });
