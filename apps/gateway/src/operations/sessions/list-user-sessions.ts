import { implement } from '@bunting/bus';
import { ListUserSessions } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';
import { userSessions } from './user-sessions.ts';

export const listUserSessionsEndpoint = ({ reads }: GatewayContext) =>
  implement(ListUserSessions, async ({ params, caller }) => {
    await reads.users.get(params.id, { only: 'users' });
    return userSessions(reads, params.id, caller);
  });
