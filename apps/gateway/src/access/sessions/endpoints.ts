import { implement } from '@bunting/bus';
import {
  type Caller,
  EndOtherSessions,
  EndOwnSession,
  EndUserSessions,
  ListOwnSessions,
  ListUserSessions,
  notFound,
  type UserSessions,
} from '@bunting/contracts';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import type { GatewayContext } from '../context.ts';

export const endOtherSessionsEndpoint = ({ transaction }: GatewayContext) =>
  implement(EndOtherSessions, (request) =>
    transaction(request, async ({ sessions }) => {
      await sessions.endAll(request.caller.id, request.caller.tokenId);
      return null;
    }),
  );

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

export const endUserSessionsEndpoint = ({ transaction }: GatewayContext) =>
  implement(EndUserSessions, (request) =>
    transaction(request, async ({ sessions, users }) => {
      const { id } = request.params;
      await users.get(id, { only: 'users' });
      await sessions.endAll(id);
      return null;
    }),
  );

/** The sessions of a user, of which the caller's own is marked. */
const userSessions = async (
  { sessions }: Pick<GatewayReads, 'sessions'>,
  userId: number,
  { tokenId }: Caller,
): Promise<UserSessions> => ({
  sessions: (await sessions.list(userId)).map((session) => ({ ...session, isCurrent: session.id === tokenId })),
});

export const listOwnSessionsEndpoint = ({ reads }: GatewayContext) =>
  implement(ListOwnSessions, ({ caller }) => userSessions(reads, caller.id, caller));

export const listUserSessionsEndpoint = ({ reads }: GatewayContext) =>
  implement(ListUserSessions, async ({ params, caller }) => {
    await reads.users.get(params.id, { only: 'users' });
    return userSessions(reads, params.id, caller);
  });
