import { implement } from '@bunting/bus';
import { ListOwnSessions } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { userSessions } from './user-sessions.ts';

export const listOwnSessionsEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListOwnSessions, (request) =>
    transaction(request, (tx) => userSessions(tx, request.caller.id, request.caller)),
  );
