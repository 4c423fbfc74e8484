import { implement } from '@bunting/bus';
import { SetProjectGroupRoles } from '@bunting/contracts';
import { groupNotFound } from '../../domain/refusals.ts';
import { setHolderRoles } from './set-holder-roles.ts';
import type { GatewayContext } from '../context.ts';
import { withExistingProject } from './with-existing-project.ts';

export const setProjectGroupRolesEndpoint = (context: GatewayContext) =>
  implement(SetProjectGroupRoles, (request) => {
    const { caller, params, body } = request;
    const { projectId: project, groupId: id } = params;
    return withExistingProject(context, request, project, async (tx) => {
      if ((await tx.groups.findForUpdate(id)) === undefined) throw groupNotFound();
      const type = 'project-access-group-roles-updated';
      await setHolderRoles(tx, { caller, project, holder: 'group', id, roles: body.roles, type });
    });
  });
