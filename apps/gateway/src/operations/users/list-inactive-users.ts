import { implement } from '@bunting/bus';
import { ListInactiveUsers } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listInactiveUsersEndpoint = ({ work }: GatewayContext) =>
  implement(ListInactiveUsers, (request) =>
    work(request, async ({ people }) => ({ version: 1 as const, inactiveUsers: await people.inactive() })),
  );
