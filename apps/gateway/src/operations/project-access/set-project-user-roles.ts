import { implement } from '@bunting/bus';
import { SetProjectUserRoles } from '@bunting/contracts';
import { userNotFound } from '../../domain/refusals.ts';
import type { GatewayContext } from '../context.ts';
import { replaceAssigneeRoles } from './change-project-roles.ts';
import { withExistingProject } from './with-existing-project.ts';

export const setProjectUserRolesEndpoint = (context: GatewayContext) =>
  implement(SetProjectUserRoles, (request) => {
    const { caller, params, body } = request;
    const { projectId, userId } = params;
    return withExistingProject(context, request, projectId, async (tx) => {
      if ((await tx.users.findExisting([userId])).length === 0) throw userNotFound();
      const type = 'project-access-user-roles-updated';
      await replaceAssigneeRoles(tx, caller, projectId, { assignee: 'user', id: userId, roles: body.roles, type });
    });
  });
