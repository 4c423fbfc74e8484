import { implement } from '@bunting/bus';
import { ListHolders } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listHoldersEndpoint = ({ accessReader }: GatewayContext) =>
  implement(ListHolders, async ({ body: { permissions, project, environment } }) => ({
    users: await accessReader.findPermissionHolders(permissions, project, environment),
  }));
