import type { Caller, UserSessions } from '@bunting/contracts';
import type { GatewayReads } from '../../unit-of-work/reads.ts';

/** The sessions of a user, of which the caller's own is marked. */
export const userSessions = async (
  { sessions }: Pick<GatewayReads, 'sessions'>,
  userId: number,
  { tokenId }: Caller,
): Promise<UserSessions> => ({
  sessions: (await sessions.list(userId)).map((session) => ({ ...session, isCurrent: session.id === tokenId })),
});
