import { implement } from '@bunting/bus';
import { ListPermissionHolders } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

/** The holders are active users and service accounts, not tokens, groups or roles. */
export const listPermissionHoldersEndpoint = ({ reads }: GatewayContext) =>
  implement(ListPermissionHolders, async ({ body: { permissions, project, environment } }) => ({
    users: await reads.access.findPermissionHolders(permissions, project, environment),
  }));
