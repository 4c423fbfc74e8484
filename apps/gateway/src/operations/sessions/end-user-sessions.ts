import { implement } from '@bunting/bus';
import { EndUserSessions } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

export const endUserSessionsEndpoint = ({ transaction }: GatewayContext) =>
  implement(EndUserSessions, (request) =>
    transaction(request, async ({ sessions, users }) => {
      const { id } = request.params;
      await users.get(id, { only: 'users' });
      await sessions.endAll(id);
      return null;
    }),
  );
