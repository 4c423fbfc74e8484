import { implement } from '@bunting/bus';
import { ListUserSessions } from '@bunting/contracts';
import { userNotFound } from '../../domain/refusals.ts';
import type { GatewayContext } from '../context.ts';
import { userSessions } from './user-sessions.ts';

export const listUserSessionsEndpoint = ({ reads }: GatewayContext) =>
  implement(ListUserSessions, async ({ params, caller }) => {
    if ((await reads.users.find(params.id, { only: 'users' })) === undefined) throw userNotFound();
    return userSessions(reads, params.id, caller);
  });
