import { implement } from '@bunting/bus';
import { ListProjectRoleHolders } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listProjectRoleHoldersEndpoint = ({ accessReader, catalogue }: GatewayContext) =>
  implement(ListProjectRoleHolders, async (request) => {
    const { projectId } = request.params;
    await catalogue.requireProject(request, projectId);
    return { version: 1 as const, ...(await accessReader.listRoleHolders(projectId)) };
  });
