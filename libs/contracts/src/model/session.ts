import { type Static, Type } from 'typebox';
import { Timestamp } from './schema.ts';

/** A browser that a user is signed in with. */
export const UserSession = Type.Object(
  {
    id: Type.String({ description: 'the id of the session; it is no secret' }),
    userAgent: Type.String({ description: 'how the browser calls itself' }),
    address: Type.String({ description: 'the address that the user signed in from' }),
    createdAt: Timestamp('when the user signed in'),
    seenAt: Timestamp('when it was last used, to within seconds'),
    expiresAt: Timestamp('when it ends at the latest'),
    isCurrent: Type.Boolean({ description: 'whether the request itself belongs to this session' }),
  },
  { title: 'userSessionSchema', description: 'A browser that a user is signed in with.' },
);
export type UserSession = Static<typeof UserSession>;

export const UserSessions = Type.Object(
  { sessions: Type.Array(UserSession, { description: 'the sessions, the most recently used first' }) },
  { title: 'userSessionsSchema', description: 'The sessions of a user.' },
);
export type UserSessions = Static<typeof UserSessions>;

/** How many characters of a password are read at most: a longer one is refused before it costs anything. */
export const maxPasswordLength = 1_000;

export const LoginBody = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 255, description: 'the user name or the e-mail address' }),
    password: Type.String({ minLength: 1, maxLength: maxPasswordLength, description: 'the password' }),
  },
  { title: 'loginSchema', description: 'A user name or an e-mail address, and the password of the user.' },
);
export type LoginBody = Static<typeof LoginBody>;

/** Set by the gateway from the connection and the headers of a request that starts a session. */
export const ClientQuery = Type.Object({
  address: Type.String(),
  userAgent: Type.Optional(
    Type.String({
      documentedPattern: '^[ -~]*$',
      description: 'how the browser calls itself, which lists of sessions show',
    }),
  ),
});
