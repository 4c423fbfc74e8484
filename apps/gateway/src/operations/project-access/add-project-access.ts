import { implement } from '@bunting/bus';
import { AddProjectAccess } from '@bunting/contracts';
import { requireMayGrantRoles, lockProjectRoles, rolesEventData } from './project-roles.ts';
import type { GatewayContext } from '../context.ts';
import { withExistingProject } from './with-existing-project.ts';

export const addProjectAccessEndpoint = (context: GatewayContext) =>
  implement(AddProjectAccess, (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    return withExistingProject(context, request, project, async (tx) => {
      const before = await lockProjectRoles(tx, project);
      const roles = [...new Set(body.roles)];
      for (const assignee of ['user', 'group'] as const) {
        const ids = [...new Set(body[`${assignee}s`])];
        await requireMayGrantRoles(tx, before, { caller, project, assignee, ids, roles, bodyPath: '/body' });
        await tx.projectRoles.add(assignee, project, ids, roles);
      }
      const after = await lockProjectRoles(tx, project);
      if (JSON.stringify(rolesEventData(after)) !== JSON.stringify(rolesEventData(before)))
        tx.emit({ type: 'project-access-added', project, data: { ...body, roles } });
    });
  });
