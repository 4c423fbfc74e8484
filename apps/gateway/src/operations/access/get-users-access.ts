import { implement } from '@bunting/bus';
import { GetUsersAccess } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const getUsersAccessEndpoint = ({ accessReader }: GatewayContext) =>
  implement(GetUsersAccess, async ({ body: { ids } }) => ({ users: await accessReader.usersWithRights(ids) }));
