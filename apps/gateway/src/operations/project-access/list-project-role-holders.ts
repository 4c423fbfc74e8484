import { implement } from '@bunting/bus';
import { ListProjectRoleHolders } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listProjectRoleHoldersEndpoint = ({ reads, projectDirectory }: GatewayContext) =>
  implement(ListProjectRoleHolders, async (request) => {
    const { projectId } = request.params;
    await projectDirectory.requireProject(request, projectId);
    return { version: 1 as const, ...(await reads.access.listRoleHolders(projectId)) };
  });
