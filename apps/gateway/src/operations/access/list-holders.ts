import { implement } from '@bunting/bus';
import { ListHolders } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listHoldersEndpoint = ({ access }: GatewayContext) =>
  implement(ListHolders, async ({ body: { permissions, project, environment } }) => ({
    users: await access.holders(permissions, project, environment),
  }));
