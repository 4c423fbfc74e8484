import { implement } from '@bunting/bus';
import { GetRole, notFound } from '@bunting/contracts';
import { toRoleResponse } from './role-response.ts';
import type { GatewayContext } from '../context.ts';
import { noSuchRole } from './no-such-role.ts';

export const getRoleEndpoint = ({ transaction }: GatewayContext) =>
  implement(GetRole, (request) =>
    transaction(request, async ({ roles }) => {
      const role = await roles.find(request.params.id);
      if (role === undefined) throw notFound(noSuchRole);
      return toRoleResponse(role);
    }),
  );
