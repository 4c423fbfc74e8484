import { implement } from '@bunting/bus';
import { GetRole } from '@bunting/contracts';
import { toRoleResponse } from './role-response.ts';
import type { GatewayContext } from '../../access/context.ts';

export const getRoleEndpoint = ({ reads }: GatewayContext) =>
  implement(GetRole, async ({ params }) => toRoleResponse(await reads.roles.get(params.id)));
