import { type Static, Type } from 'typebox';
import { Timestamp } from '../schema.ts';

/** A session of a user in one browser. */
export const UserSession = Type.Object(
  {
    id: Type.String({ description: 'the id of the session; it is no secret' }),
    userAgent: Type.String({ description: 'the name of the browser' }),
    address: Type.String({ description: 'the address that the user signed in from' }),
    createdAt: Timestamp('when the user signed in'),
    seenAt: Timestamp('when it was last used, to within seconds'),
    expiresAt: Timestamp('when it ends at the latest'),
    isCurrent: Type.Boolean({ description: 'whether the request itself belongs to this session' }),
  },
  { title: 'userSessionSchema', description: 'A session of a user in one browser.' },
);
export type UserSession = Static<typeof UserSession>;

export const UserSessions = Type.Object(
  { sessions: Type.Array(UserSession, { description: 'the sessions, the most recently used first' }) },
  { title: 'userSessionsSchema', description: 'The sessions of a user.' },
);
export type UserSessions = Static<typeof UserSessions>;
