import { implement } from '@bunting/bus';
import { CountProjectMembers } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const countProjectMembersEndpoint = ({ accessReader }: GatewayContext) =>
  implement(CountProjectMembers, async ({ body: { project } }) => ({
    projects: await accessReader.countProjectMembers(project),
  }));
