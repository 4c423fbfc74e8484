import { implement } from '@bunting/bus';
import { CountProjectMembers } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

export const countProjectMembersEndpoint = ({ reads }: GatewayContext) =>
  implement(CountProjectMembers, async ({ body: { project } }) => ({
    projects: await reads.access.countProjectMembers(project),
  }));
