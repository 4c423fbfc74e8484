import { implement } from '@bunting/bus';
import { UpdateRole } from '@bunting/contracts';
import { badRequest, roleNotFound } from '../../domain/refusals.ts';
import { requireCustomRole, parseRole } from '../../domain/roles.ts';
import { toSavedRoleResponse } from './role-response.ts';
import type { GatewayContext } from '../context.ts';

export const updateRoleEndpoint = ({ transaction }: GatewayContext) =>
  implement(UpdateRole, (request) =>
    transaction(request, async ({ roles, emit }) => {
      const { params, body } = request;
      // An invalid body is refused before the role is looked up.
      parseRole({ ...body, type: body.type ?? 'root-custom' });
      const before = await roles.findForUpdate(params.id);
      if (before === undefined) throw roleNotFound();
      requireCustomRole(before);
      const { type } = before;
      if (body.type !== undefined && body.type !== type)
        throw badRequest('The type of a role cannot be changed', '/body/type');
      const after = await roles.save(parseRole({ ...body, type: type as 'custom' | 'root-custom' }), before.id);
      if (JSON.stringify(after) === JSON.stringify(before)) return toSavedRoleResponse(after);
      emit({ type: 'role-updated', data: after, preData: before });
      return toSavedRoleResponse(after);
    }),
  );
