import { implement } from '@bunting/bus';
import { ListRoleHolders } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listRoleHoldersEndpoint = ({ reads }: GatewayContext) =>
  implement(ListRoleHolders, async () => ({
    version: 1 as const,
    ...(await reads.access.listRoleHolders(undefined)),
  }));
