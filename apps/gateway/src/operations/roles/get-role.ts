import { implement } from '@bunting/bus';
import { GetRole } from '@bunting/contracts';
import { roleNotFound } from '../../domain/refusals.ts';
import { toRoleResponse } from './role-response.ts';
import type { GatewayContext } from '../context.ts';

export const getRoleEndpoint = ({ reads }: GatewayContext) =>
  implement(GetRole, async ({ params }) => {
    const role = await reads.roles.find(params.id);
    if (role === undefined) throw roleNotFound();
    return toRoleResponse(role);
  });
