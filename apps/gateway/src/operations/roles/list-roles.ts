import { implement } from '@bunting/bus';
import { ListRoles } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listRolesEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListRoles, (request) =>
    transaction(request, async ({ roles }) => ({ version: 1 as const, roles: await roles.list() })),
  );
