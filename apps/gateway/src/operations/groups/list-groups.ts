import { implement } from '@bunting/bus';
import { ListGroups } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listGroupsEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListGroups, (request) => transaction(request, async ({ groups }) => ({ groups: await groups.list() })));
