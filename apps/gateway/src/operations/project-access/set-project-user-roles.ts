import { implement } from '@bunting/bus';
import { SetProjectUserRoles } from '@bunting/contracts';
import { userNotFound } from '../../access/refusals.ts';
import { replaceRoles, replacementRoles } from '../../access/project-access/project-roles.ts';
import type { GatewayContext } from '../../access/context.ts';
import { changeProjectRoles } from './change-project-roles.ts';
import { withExistingProject } from './with-existing-project.ts';

export const setProjectUserRolesEndpoint = (context: GatewayContext) =>
  implement(SetProjectUserRoles, (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    const assignee = { type: 'user', id: params.userId } as const;
    return withExistingProject(context, request, project, async (tx) => {
      if ((await tx.users.findExisting([assignee.id])).length === 0) throw userNotFound();
      await changeProjectRoles(tx, { caller, project, ...replacementRoles(assignee, body.roles) }, (before) =>
        replaceRoles(before, project, assignee, body.roles),
      );
    });
  });
