import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { AccountPath, SessionPath } from '../paths.ts';
import { Timestamp } from '../schemas.ts';

const defineOperation = operationsOf('Users');

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

export const EndOtherSessions = defineOperation({
  subject: 'call.gateway.end-other-sessions',
  operationId: 'deleteOtherSessions',
  summary: 'End all other own sessions',
  description: 'Signs the caller out of all browsers but the one that sends this request.',
  isBuntingExtension: true,
  http: { method: 'DELETE', url: '/api/admin/user/sessions', anyContentType: true },
  permission: 'authenticated',
});

export const EndOwnSession = defineOperation({
  subject: 'call.gateway.end-own-session',
  operationId: 'deleteSession',
  summary: 'End one of the own sessions',
  description: 'Signs the caller out of one browser.',
  isBuntingExtension: true,
  http: { method: 'DELETE', url: '/api/admin/user/sessions/:sessionId', anyContentType: true },
  permission: 'authenticated',
  params: SessionPath,
});

export const EndUserSessions = defineOperation({
  subject: 'call.gateway.end-user-sessions',
  operationId: 'deleteUserSessions',
  summary: 'End all sessions of a user',
  description: 'Signs a user out of all browsers. The API keys of the user still work.',
  isBuntingExtension: true,
  http: { method: 'DELETE', url: '/api/admin/user-admin/:id/sessions', anyContentType: true },
  permission: 'ADMIN',
  params: AccountPath,
});

export const ListOwnSessions = defineOperation({
  subject: 'call.gateway.list-own-sessions',
  operationId: 'getSessions',
  summary: 'List the own sessions',
  description: 'Returns the browsers that the caller is signed in with.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/user/sessions' },
  permission: 'authenticated',
  reply: UserSessions,
});

export const ListUserSessions = defineOperation({
  subject: 'call.gateway.list-user-sessions',
  operationId: 'getUserSessions',
  summary: 'List the sessions of a user',
  description: 'Returns the browsers that a user is signed in with.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/user-admin/:id/sessions' },
  permission: 'ADMIN',
  params: AccountPath,
  reply: UserSessions,
});
