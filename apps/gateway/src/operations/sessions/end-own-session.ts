import { implement } from '@bunting/bus';
import { EndOwnSession, notFound } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const endOwnSessionEndpoint = ({ transaction }: GatewayContext) =>
  implement(EndOwnSession, (request) =>
    transaction(request, async ({ sessions }) => {
      const { sessionId } = request.params;
      if (!uuid.test(sessionId) || !(await sessions.end(request.caller.id, sessionId)))
        throw notFound('You have no session with that id.');
      return null;
    }),
  );
