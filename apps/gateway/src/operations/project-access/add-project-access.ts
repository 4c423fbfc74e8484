import { implement } from '@bunting/bus';
import { AddProjectAccess } from '@bunting/contracts';
import { requireMayGrantRoles, lockProjectRoles, rolesEventData } from './project-roles.ts';
import type { GatewayContext } from '../context.ts';

export const addProjectAccessEndpoint = ({ transaction, catalogue }: GatewayContext) =>
  implement(AddProjectAccess, async (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    await catalogue.requireProject(request, project);
    await catalogue.awaitKnown([project]);
    return transaction(request, async (tx) => {
      await tx.lockExistingProjects([project]);
      const before = await lockProjectRoles(tx, project);
      const roles = [...new Set(body.roles)];
      for (const holder of ['user', 'group'] as const) {
        const ids = [...new Set(body[`${holder}s`])];
        await requireMayGrantRoles(tx, before, { caller, project, holder, ids, roles, at: '/body' });
        await tx.projectRoles.add(holder, project, ids, roles);
      }
      const after = await lockProjectRoles(tx, project);
      if (JSON.stringify(rolesEventData(after)) !== JSON.stringify(rolesEventData(before)))
        tx.emit({ type: 'project-access-added', project, data: { ...body, roles } });
      return null;
    });
  });
