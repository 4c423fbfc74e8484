import { implement } from '@bunting/bus';
import { DeleteRole, notFound } from '@bunting/contracts';
import { requireCustomRole } from '../../domain/roles.ts';
import { noSuchRole } from './no-such-role.ts';
import type { GatewayContext } from '../context.ts';

export const deleteRoleEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteRole, (request) =>
    transaction(request, async ({ roles, emit }) => {
      const role = await roles.findForUpdate(request.params.id);
      if (role === undefined) throw notFound(noSuchRole);
      requireCustomRole(role);
      await roles.remove(role.id);
      emit({ type: 'role-deleted', preData: role });
      return null;
    }),
  );
