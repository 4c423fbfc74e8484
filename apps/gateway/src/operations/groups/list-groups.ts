import { implement } from '@bunting/bus';
import { ListGroups } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listGroupsEndpoint = ({ work }: GatewayContext) =>
  implement(ListGroups, (request) => work(request, async ({ groups }) => ({ groups: await groups.list() })));
