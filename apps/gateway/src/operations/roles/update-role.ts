import { implement } from '@bunting/bus';
import { UpdateRole } from '@bunting/contracts';
import { roleUpdated, updatedRole } from '../../access/roles/role.ts';
import type { GatewayContext } from '../../access/context.ts';
import { parseRoleInEnvironments } from './parse-role-in-environments.ts';
import { toSavedRoleResponse } from './role-response.ts';

export const updateRoleEndpoint = ({ transaction, projectAndEnvironmentDirectory }: GatewayContext) =>
  implement(UpdateRole, async (request) => {
    const { params, body } = request;
    // An invalid body is refused before the role is looked up.
    const anyRole = { ...body, type: body.type ?? 'root-custom' };
    await parseRoleInEnvironments({ projectAndEnvironmentDirectory }, anyRole, request);
    return transaction(request, async ({ roles }) => {
      const before = await roles.getForUpdate(params.id);
      const after = await roles.save(before.id, updatedRole(before, body), (stored) => roleUpdated(before, stored));
      return toSavedRoleResponse(after);
    });
  });
