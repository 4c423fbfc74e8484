import { implement } from '@bunting/bus';
import { ListGroups } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

export const listGroupsEndpoint = ({ reads }: GatewayContext) =>
  implement(ListGroups, async () => ({ groups: await reads.groups.list() }));
