import { implement } from '@bunting/bus';
import { ListInactiveUsers } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listInactiveUsersEndpoint = ({ work }: GatewayContext) =>
  implement(ListInactiveUsers, (asked) =>
    work(asked, async ({ people }) => ({ version: 1 as const, inactiveUsers: await people.inactive() })),
  );
