import { implement } from '@bunting/bus';
import { GetPermissionsOfUsers } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

export const getPermissionsOfUsersEndpoint = ({ reads }: GatewayContext) =>
  implement(GetPermissionsOfUsers, async ({ body: { ids } }) => ({ users: await reads.access.usersWithRights(ids) }));
