import { implement } from '@bunting/bus';
import { ListUsersAndGroups } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

export const listUsersAndGroupsEndpoint = ({ reads }: GatewayContext) =>
  implement(ListUsersAndGroups, async () => ({
    users: await reads.users.listNames(),
    groups: (await reads.groups.list()).map(({ id, name, rootRole, userCount }) => ({ id, name, rootRole, userCount })),
  }));
