import { implement } from '@bunting/bus';
import { AddProjectAccess } from '@bunting/contracts';
import { requireMayGiveRoles, rolesIn, toldRoles } from './project-roles.ts';
import type { GatewayContext } from '../context.ts';

export const addProjectAccessEndpoint = ({ work, places }: GatewayContext) =>
  implement(AddProjectAccess, async (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    await places.requireProject(request, project);
    await places.requireHeardOf([project]);
    return work(request, async (tx) => {
      await tx.requireStanding([project]);
      const before = await rolesIn(tx, project);
      const roles = [...new Set(body.roles)];
      for (const holder of ['user', 'group'] as const) {
        const ids = [...new Set(body[`${holder}s`])];
        await requireMayGiveRoles(tx, before, { caller, project, holder, ids, roles, at: '/body' });
        await tx.projectAccess.add(holder, project, ids, roles);
      }
      const after = await rolesIn(tx, project);
      if (JSON.stringify(toldRoles(after)) !== JSON.stringify(toldRoles(before)))
        tx.tell({ type: 'project-access-added', project, data: { ...body, roles } });
      return null;
    });
  });
