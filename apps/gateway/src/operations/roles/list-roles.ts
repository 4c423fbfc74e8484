import { implement } from '@bunting/bus';
import { ListRoles } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

export const listRolesEndpoint = ({ reads }: GatewayContext) =>
  implement(ListRoles, async () => ({ version: 1 as const, roles: await reads.roles.list() }));
