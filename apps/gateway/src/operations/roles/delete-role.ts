import { implement } from '@bunting/bus';
import { DeleteRole } from '@bunting/contracts';
import { roleNotFound } from '../../domain/refusals.ts';
import { requireCustomRole, roleDeleted } from '../../domain/rights/roles.ts';
import type { GatewayContext } from '../context.ts';

export const deleteRoleEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteRole, (request) =>
    transaction(request, async ({ roles, events }) => {
      const role = await roles.findForUpdate(request.params.id);
      if (role === undefined) throw roleNotFound();
      requireCustomRole(role);
      await roles.remove(role.id);
      events.emit([roleDeleted(role)]);
      return null;
    }),
  );
