import { implement } from '@bunting/bus';
import { DeleteRole, notFound } from '@bunting/contracts';
import { requireMadeHere } from '../../domain/roles.ts';
import { noSuchRole } from './no-such-role.ts';
import type { GatewayContext } from '../context.ts';

export const deleteRoleEndpoint = ({ work }: GatewayContext) =>
  implement(DeleteRole, (request) =>
    work(request, async ({ roles, tell }) => {
      const role = await roles.find(request.params.id);
      if (role === undefined) throw notFound(noSuchRole);
      requireMadeHere(role);
      await roles.remove(role.id);
      tell({ type: 'role-deleted', preData: role });
      return null;
    }),
  );
