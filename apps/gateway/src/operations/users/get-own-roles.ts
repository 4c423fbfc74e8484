import { implement } from '@bunting/bus';
import { GetOwnRoles, may } from '@bunting/contracts';
import { hasAccount, predefinedRole } from '../../domain/token-scope.ts';
import type { GatewayContext } from '../context.ts';

export const getOwnRolesEndpoint = ({ transaction }: GatewayContext) =>
  implement(GetOwnRoles, async (request) => {
    const { caller, query } = request;
    return transaction(request, async ({ projectRoles, roles }) => {
      const held = hasAccount(caller) ? await projectRoles.listRolesOfUser(caller.id, query.projectId) : [];
      // An administrator has access to every project through the root role Admin; admin tokens act with it.
      if (may(caller, ['ADMIN'])) held.push(predefinedRole.admin);
      const project = query.projectId === undefined ? {} : { project: query.projectId };
      const named = (await roles.list()).filter(({ id }) => held.includes(id));
      return { version: 1 as const, roles: named.map((role) => ({ ...role, ...project })) };
    });
  });
