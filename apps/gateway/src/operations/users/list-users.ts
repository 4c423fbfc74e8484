import { implement } from '@bunting/bus';
import { ListUsers } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { rootRolesOf } from './root-roles.ts';

export const listUsersEndpoint = ({ work }: GatewayContext) =>
  implement(ListUsers, (request) =>
    work(request, async (tx) => ({
      users: (await tx.people.list('users', request.query)).map((user) => ({ ...user, inviteLink: '' })),
      rootRoles: await rootRolesOf(tx),
    })),
  );
