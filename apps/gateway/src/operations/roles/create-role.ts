import { implement } from '@bunting/bus';
import { CreateRole } from '@bunting/contracts';
import { roleCreated } from '../../access/roles/role.ts';
import { parseRoleInEnvironments } from './parse-role-in-environments.ts';
import { toSavedRoleResponse } from './role-response.ts';
import type { GatewayContext } from '../../access/context.ts';

export const createRoleEndpoint = ({ transaction, projectAndEnvironmentDirectory }: GatewayContext) =>
  implement(CreateRole, async (request) => {
    const input = await parseRoleInEnvironments({ projectAndEnvironmentDirectory }, request.body, request);
    return transaction(request, async ({ roles }) =>
      toSavedRoleResponse(await roles.add(input, (created) => [roleCreated(created)])),
    );
  });
