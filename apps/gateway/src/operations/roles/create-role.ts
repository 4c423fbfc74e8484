import { implement } from '@bunting/bus';
import { CreateRole } from '@bunting/contracts';
import { parseRole, roleCreated } from '../../domain/rights/roles.ts';
import { toSavedRoleResponse } from './role-response.ts';
import type { GatewayContext } from '../context.ts';

export const createRoleEndpoint = ({ transaction }: GatewayContext) =>
  implement(CreateRole, (request) =>
    transaction(request, async ({ roles }) => {
      const role = await roles.add(parseRole(request.body), (created) => [roleCreated(created)]);
      return toSavedRoleResponse(role);
    }),
  );
