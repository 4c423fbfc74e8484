import { implement } from '@bunting/bus';
import { ListUsersAndGroups } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listUsersAndGroupsEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListUsersAndGroups, (request) =>
    transaction(request, async ({ users, groups }) => ({
      users: await users.listNames(),
      groups: (await groups.list()).map(({ id, name, rootRole, userCount }) => ({ id, name, rootRole, userCount })),
    })),
  );
