import { implement } from '@bunting/bus';
import { UpdateRole } from '@bunting/contracts';
import { parseRole, roleUpdated, updatedRole } from '../../domain/rights/roles.ts';
import type { GatewayContext } from '../context.ts';
import { toSavedRoleResponse } from './role-response.ts';

export const updateRoleEndpoint = ({ transaction }: GatewayContext) =>
  implement(UpdateRole, (request) =>
    transaction(request, async ({ roles }) => {
      const { params, body } = request;
      // An invalid body is refused before the role is looked up.
      parseRole({ ...body, type: body.type ?? 'root-custom' });
      const before = await roles.getForUpdate(params.id);
      const after = await roles.save(before.id, updatedRole(before, body), (stored) => roleUpdated(before, stored));
      return toSavedRoleResponse(after);
    }),
  );
