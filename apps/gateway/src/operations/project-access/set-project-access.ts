import { implement } from '@bunting/bus';
import { SetProjectAccess } from '@bunting/contracts';
import { projectRolesEventData, requestedRoles, requireOwnerLeft } from '../../domain/rights/project-roles.ts';
import { authoriseAssignment, lockProjectRoles } from './project-roles.ts';
import type { GatewayContext } from '../context.ts';
import { withExistingProject } from './with-existing-project.ts';

export const setProjectAccessEndpoint = (context: GatewayContext) =>
  implement(SetProjectAccess, (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    return withExistingProject(context, request, project, async (tx) => {
      const before = await lockProjectRoles(tx, project);
      const after = requestedRoles(body);
      const roles = [...new Set([...after.users.values(), ...after.groups.values()].flat())];
      await authoriseAssignment(tx, { caller, project, before, roles, requested: after });
      requireOwnerLeft(before, after);
      for (const assignee of ['user', 'group'] as const) {
        const assigned = after[`${assignee}s`];
        for (const [id, rolesOfOne] of assigned) await tx.projectRoles.set(assignee, project, id, rolesOfOne);
        await tx.projectRoles.removeAllExcept(assignee, project, [...assigned.keys()]);
      }
      tx.events.emitIfChanged({
        type: 'project-access-updated',
        project,
        data: projectRolesEventData(after),
        preData: projectRolesEventData(before),
      });
    });
  });
