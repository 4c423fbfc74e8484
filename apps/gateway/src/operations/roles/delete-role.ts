import { implement } from '@bunting/bus';
import { DeleteRole } from '@bunting/contracts';
import { requireCustomRole, roleDeleted } from '../../access/roles/role.ts';
import type { GatewayContext } from '../../access/context.ts';

export const deleteRoleEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteRole, (request) =>
    transaction(request, async ({ roles }) => {
      const role = await roles.getForUpdate(request.params.id);
      requireCustomRole(role);
      await roles.remove(role.id, [roleDeleted(role)]);
      return null;
    }),
  );
