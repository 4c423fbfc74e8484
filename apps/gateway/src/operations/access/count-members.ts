import { implement } from '@bunting/bus';
import { CountMembers } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const countMembersEndpoint = ({ access }: GatewayContext) =>
  implement(CountMembers, async ({ body: { project } }) => ({ projects: await access.members(project) }));
