import { implement } from '@bunting/bus';
import { SetProjectGroupRoles } from '@bunting/contracts';
import { replaceRoles, replacementRoles } from '../../access/project-access/project-roles.ts';
import type { GatewayContext } from '../../access/context.ts';
import { changeProjectRoles } from './change-project-roles.ts';
import { withExistingProject } from './with-existing-project.ts';

export const setProjectGroupRolesEndpoint = (context: GatewayContext) =>
  implement(SetProjectGroupRoles, (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    const assignee = { type: 'group', id: params.groupId } as const;
    return withExistingProject(context, request, project, async (tx) => {
      await tx.groups.getForUpdate(assignee.id);
      await changeProjectRoles(tx, { caller, project, ...replacementRoles(assignee, body.roles) }, (before) =>
        replaceRoles(before, project, assignee, body.roles),
      );
    });
  });
