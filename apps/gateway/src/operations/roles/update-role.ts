import { implement } from '@bunting/bus';
import { notFound, UpdateRole } from '@bunting/contracts';
import { wrong } from '../../domain/refusals.ts';
import { requireMadeHere, wantedRole } from '../../domain/roles.ts';
import { savedRole } from './role-response.ts';
import { noSuchRole } from './no-such-role.ts';
import type { GatewayContext } from '../context.ts';

export const updateRoleEndpoint = ({ work }: GatewayContext) =>
  implement(UpdateRole, (request) =>
    work(request, async ({ roles, tell }) => {
      const { params, body } = request;
      // What no role could be is refused whether or not the role exists.
      wantedRole({ ...body, type: body.type ?? 'root-custom' });
      const before = await roles.find(params.id);
      if (before === undefined) throw notFound(noSuchRole);
      requireMadeHere(before);
      const { type } = before;
      if (body.type !== undefined && body.type !== type)
        throw wrong('The type of a role does not change', '/body/type');
      const after = await roles.save(wantedRole({ ...body, type: type as 'custom' | 'root-custom' }), before.id);
      if (JSON.stringify(after) === JSON.stringify(before)) return savedRole(after);
      tell({ type: 'role-updated', data: after, preData: before });
      return savedRole(after);
    }),
  );
