import { implement } from '@bunting/bus';
import { CountMembers } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const countMembersEndpoint = ({ accessReader }: GatewayContext) =>
  implement(CountMembers, async ({ body: { project } }) => ({ projects: await accessReader.countMembers(project) }));
