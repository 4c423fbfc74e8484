import { implement } from '@bunting/bus';
import { ListRoles } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const listRolesEndpoint = ({ work }: GatewayContext) =>
  implement(ListRoles, (request) =>
    work(request, async ({ roles }) => ({ version: 1 as const, roles: await roles.list() })),
  );
