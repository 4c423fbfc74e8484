import { implement } from '@bunting/bus';
import { ListSessions } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { sessionsOf } from './sessions-of.ts';

export const listSessionsEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListSessions, (request) => transaction(request, (tx) => sessionsOf(tx, request.caller.id, request.caller)));
