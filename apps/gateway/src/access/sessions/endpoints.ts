import { implement } from '@bunting/bus';
import { EndOtherSessions } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const endOtherSessionsEndpoint = ({ transaction }: GatewayContext) =>
  implement(EndOtherSessions, (request) =>
    transaction(request, async ({ sessions }) => {
      await sessions.endAll(request.caller.id, request.caller.tokenId);
      return null;
    }),
  );
