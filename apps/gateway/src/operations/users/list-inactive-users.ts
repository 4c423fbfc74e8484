import { implement } from '@bunting/bus';
import { ListInactiveUsers } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listInactiveUsersEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListInactiveUsers, (request) =>
    transaction(request, async ({ users }) => ({ version: 1 as const, inactiveUsers: await users.listInactive() })),
  );
