import { implement } from '@bunting/bus';
import { ListOwnSessions } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { sessionsOf } from './sessions-of.ts';

export const listOwnSessionsEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListOwnSessions, (request) =>
    transaction(request, (tx) => sessionsOf(tx, request.caller.id, request.caller)),
  );
