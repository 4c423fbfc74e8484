import { implement } from '@bunting/bus';
import { ListOwnSessions } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';
import { userSessions } from './user-sessions.ts';

export const listOwnSessionsEndpoint = ({ reads }: GatewayContext) =>
  implement(ListOwnSessions, ({ caller }) => userSessions(reads, caller.id, caller));
