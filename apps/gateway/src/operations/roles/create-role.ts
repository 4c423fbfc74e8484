import { implement } from '@bunting/bus';
import { CreateRole } from '@bunting/contracts';
import { parseRole, roleCreated } from '../../domain/rights/roles.ts';
import { toSavedRoleResponse } from './role-response.ts';
import type { GatewayContext } from '../context.ts';

export const createRoleEndpoint = ({ transaction }: GatewayContext) =>
  implement(CreateRole, (request) =>
    transaction(request, async ({ roles, events }) => {
      const role = await roles.save(parseRole(request.body));
      events.emit([roleCreated(role)]);
      return toSavedRoleResponse(role);
    }),
  );
