import { implement } from '@bunting/bus';
import { AddProjectAccess } from '@bunting/contracts';
import { projectRolesEventData, withAddedRoles } from '../../domain/rights/project-roles.ts';
import { authoriseAssignment, lockProjectRoles } from './project-roles.ts';
import type { GatewayContext } from '../context.ts';
import { withExistingProject } from './with-existing-project.ts';

export const addProjectAccessEndpoint = (context: GatewayContext) =>
  implement(AddProjectAccess, (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    return withExistingProject(context, request, project, async (tx) => {
      const before = await lockProjectRoles(tx, project);
      const roles = [...new Set(body.roles)];
      const withRoles = (ids: readonly number[]) => new Map(ids.map((id) => [id, roles]));
      const requested = { users: withRoles(body.users), groups: withRoles(body.groups) };
      await authoriseAssignment(tx, { caller, project, before, roles, requested });
      const after = withAddedRoles(before, requested);
      await tx.projectRoles.add('user', project, [...requested.users.keys()], roles);
      await tx.projectRoles.add('group', project, [...requested.groups.keys()], roles);
      if (JSON.stringify(projectRolesEventData(after)) !== JSON.stringify(projectRolesEventData(before)))
        tx.events.emit([{ type: 'project-access-added', project, data: { ...body, roles } }]);
    });
  });
