import { implement } from '@bunting/bus';
import { ListUsers } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';
import { listRootRoles } from './root-roles.ts';

export const listUsersEndpoint = ({ reads }: GatewayContext) =>
  implement(ListUsers, async ({ query }) => ({
    users: (await reads.users.list('users', query)).map((user) => ({ ...user, inviteLink: '' })),
    rootRoles: await listRootRoles(reads),
  }));
