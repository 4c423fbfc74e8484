import { implement } from '@bunting/bus';
import { CreateRole } from '@bunting/contracts';
import { wantedRole } from '../../domain/roles.ts';
import { savedRole } from './role-response.ts';
import type { GatewayContext } from '../context.ts';

export const createRoleEndpoint = ({ work }: GatewayContext) =>
  implement(CreateRole, (request) =>
    work(request, async ({ roles, tell }) => {
      const role = await roles.save(wantedRole(request.body));
      tell({ type: 'role-created', data: role });
      return savedRole(role);
    }),
  );
