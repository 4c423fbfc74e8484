import { implement } from '@bunting/bus';
import { GetRole } from '@bunting/contracts';
import { roleNotFound } from '../../domain/refusals.ts';
import { toRoleResponse } from './role-response.ts';
import type { GatewayContext } from '../context.ts';

export const getRoleEndpoint = ({ transaction }: GatewayContext) =>
  implement(GetRole, (request) =>
    transaction(request, async ({ roles }) => {
      const role = await roles.find(request.params.id);
      if (role === undefined) throw roleNotFound();
      return toRoleResponse(role);
    }),
  );
