import { implement } from '@bunting/bus';
import { EndUserSessions } from '@bunting/contracts';
import { userNotFound } from '../../domain/refusals.ts';
import type { GatewayContext } from '../context.ts';

export const endUserSessionsEndpoint = ({ transaction }: GatewayContext) =>
  implement(EndUserSessions, (request) =>
    transaction(request, async ({ sessions, users }) => {
      const { id } = request.params;
      if ((await users.find(id, { only: 'users' })) === undefined) throw userNotFound();
      await sessions.endAll(id);
      return null;
    }),
  );
