import { implement } from '@bunting/bus';
import { ListUsers } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { rootRolesOf } from './root-roles.ts';

export const listUsersEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListUsers, (request) =>
    transaction(request, async (tx) => ({
      users: (await tx.users.list('users', request.query)).map((user) => ({ ...user, inviteLink: '' })),
      rootRoles: await rootRolesOf(tx),
    })),
  );
