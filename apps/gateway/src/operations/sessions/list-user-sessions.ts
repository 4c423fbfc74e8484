import { implement } from '@bunting/bus';
import { ListUserSessions } from '@bunting/contracts';
import { userNotFound } from '../../domain/refusals.ts';
import type { GatewayContext } from '../context.ts';
import { userSessions } from './user-sessions.ts';

export const listUserSessionsEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListUserSessions, (request) =>
    transaction(request, async (tx) => {
      const { id } = request.params;
      if ((await tx.users.find(id, { only: 'users' })) === undefined) throw userNotFound();
      return userSessions(tx, id, request.caller);
    }),
  );
