import { implement } from '@bunting/bus';
import { ListPermissionHolders } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listPermissionHoldersEndpoint = ({ accessReader }: GatewayContext) =>
  implement(ListPermissionHolders, async ({ body: { permissions, project, environment } }) => ({
    users: await accessReader.findPermissionHolders(permissions, project, environment),
  }));
