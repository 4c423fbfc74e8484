import { type Endpoint, implement, writes } from '@bunting/bus';
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

export function sessionEndpoints({ transaction, reads }: GatewayContext): readonly Endpoint[] {
  return [
    writes(EndOtherSessions, transaction, async ({ sessions }, { caller }) => {
      await sessions.endAll(caller.id, caller.tokenId);
      return null;
    }),
    writes(EndOwnSession, transaction, async ({ sessions }, { params, caller }) => {
      const { sessionId } = params;
      if (!uuid.test(sessionId) || !(await sessions.end(caller.id, sessionId)))
        throw notFound('You have no session with that id.');
      return null;
    }),
    writes(EndUserSessions, transaction, async ({ sessions, users }, { params }) => {
      const { id } = params;
      await users.get(id, { only: 'users' });
      await sessions.endAll(id);
      return null;
    }),
    implement(ListOwnSessions, ({ caller }) => userSessions(reads, caller.id, caller)),
    implement(ListUserSessions, async ({ params, caller }) => {
      await reads.users.get(params.id, { only: 'users' });
      return userSessions(reads, params.id, caller);
    }),
  ];
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function userSessions(
  { sessions }: Pick<GatewayReads, 'sessions'>,
  userId: number,
  { tokenId }: Caller,
): Promise<UserSessions> {
  return {
    sessions: (await sessions.list(userId)).map((session) => ({ ...session, isCurrent: session.id === tokenId })),
  };
}
