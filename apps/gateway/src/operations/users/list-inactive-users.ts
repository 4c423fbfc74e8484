import { implement } from '@bunting/bus';
import { ListInactiveUsers } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

export const listInactiveUsersEndpoint = ({ reads }: GatewayContext) =>
  implement(ListInactiveUsers, async () => ({
    version: 1 as const,
    inactiveUsers: await reads.users.listInactive(),
  }));
