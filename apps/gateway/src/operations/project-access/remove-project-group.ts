import { implement } from '@bunting/bus';
import { RemoveProjectGroup } from '@bunting/contracts';
import { removeRoles, replacementRoles } from '../../access/project-access/project-roles.ts';
import type { GatewayContext } from '../../access/context.ts';
import { changeProjectRoles } from './change-project-roles.ts';
import { withExistingProject } from './with-existing-project.ts';

/** Removes all roles of a group in a project, and so its access. The group itself stays. */
export const removeProjectGroupEndpoint = (context: GatewayContext) =>
  implement(RemoveProjectGroup, (request) => {
    const { caller, params } = request;
    const project = params.projectId;
    const assignee = { type: 'group', id: params.groupId } as const;
    return withExistingProject(context, request, project, (tx) =>
      changeProjectRoles(tx, { caller, project, ...replacementRoles(assignee, []) }, (before) =>
        removeRoles(before, project, assignee),
      ),
    );
  });
