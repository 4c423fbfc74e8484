import { implement } from '@bunting/bus';
import { RemoveProjectUser } from '@bunting/contracts';
import { removeRoles, replacementRoles } from '../../access/project-access/project-roles.ts';
import type { GatewayContext } from '../../access/context.ts';
import { changeProjectRoles } from './change-project-roles.ts';
import { withExistingProject } from './with-existing-project.ts';

/** Removes all roles of a user in a project, and so the access. The user itself stays. */
export const removeProjectUserEndpoint = (context: GatewayContext) =>
  implement(RemoveProjectUser, (request) => {
    const { caller, params } = request;
    const project = params.projectId;
    const assignee = { type: 'user', id: params.userId } as const;
    return withExistingProject(context, request, project, (tx) =>
      changeProjectRoles(tx, { caller, project, ...replacementRoles(assignee, []) }, (before) =>
        removeRoles(before, project, assignee),
      ),
    );
  });
