import { implement } from '@bunting/bus';
import { ListRootRoleHolders } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

export const listRootRoleHoldersEndpoint = ({ reads }: GatewayContext) =>
  implement(ListRootRoleHolders, async () => ({
    version: 1 as const,
    ...(await reads.access.listRoleHolders(undefined)),
  }));
