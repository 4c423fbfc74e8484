import { implement } from '@bunting/bus';
import { ListGroups } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listGroupsEndpoint = ({ work }: GatewayContext) =>
  implement(ListGroups, (asked) => work(asked, async ({ groups }) => ({ groups: await groups.list() })));
