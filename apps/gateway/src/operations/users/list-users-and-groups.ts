import { implement } from '@bunting/bus';
import { ListUsersAndGroups } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listUsersAndGroupsEndpoint = ({ work }: GatewayContext) =>
  implement(ListUsersAndGroups, (request) =>
    work(request, async ({ people, groups }) => ({
      users: await people.names(),
      groups: (await groups.list()).map(({ id, name, rootRole, userCount }) => ({ id, name, rootRole, userCount })),
    })),
  );
