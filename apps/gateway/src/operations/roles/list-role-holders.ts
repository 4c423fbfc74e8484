import { implement } from '@bunting/bus';
import { ListRoleHolders } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listRoleHoldersEndpoint = ({ accessReader }: GatewayContext) =>
  implement(ListRoleHolders, async () => ({
    version: 1 as const,
    ...(await accessReader.listRoleHolders(undefined)),
  }));
