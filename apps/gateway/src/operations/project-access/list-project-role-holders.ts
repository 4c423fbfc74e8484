import { implement } from '@bunting/bus';
import { ListProjectRoleHolders } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

export const listProjectRoleHoldersEndpoint = ({ reads, projectAndEnvironmentDirectory }: GatewayContext) =>
  implement(ListProjectRoleHolders, async (request) => {
    const { projectId } = request.params;
    await projectAndEnvironmentDirectory.requireProject(request, projectId);
    return { version: 1 as const, ...(await reads.access.listRoleHolders(projectId)) };
  });
