import { Type, type Static } from 'typebox';
import { operationsOf } from '../operation.ts';
import { AccountPath, AccountTokenPath } from '../paths.ts';
import { Nullable, Timestamp } from '../schemas.ts';
import { User } from './account.ts';

const defineOperation = operationsOf('Personal access tokens');

const { seenAt, createdAt } = User.properties;

/** A personal access token: it has the permissions of its user. Its secret is shown once. */
const pat = {
  id: Type.Integer({ description: 'the id of the token' }),
  description: Type.String({ description: 'the description of the token' }),
  expiresAt: Nullable(Timestamp('until when the token works; null: for ever')),
  createdAt,
  seenAt,
  userId: Type.Integer({ description: 'the user that the token acts as' }),
};
export const Pat = Type.Object(pat, { title: 'patSchema', description: 'A key that acts as a user.' });
export type Pat = Static<typeof Pat>;

export const CreatedPat = Type.Object(
  { ...pat, secret: Type.String({ description: 'the key itself, shown this once' }) },
  { title: 'createdPatSchema', description: 'A key that was just created.' },
);
export type CreatedPat = Static<typeof CreatedPat>;

export const Pats = Type.Object(
  { pats: Type.Array(Pat, { description: 'the tokens, newest last' }) },
  { title: 'patsSchema', description: 'The personal access tokens of a user.' },
);
export type Pats = Static<typeof Pats>;

export const CreatePatBody = Type.Object(
  {
    description: Type.String({ minLength: 1, maxLength: 255, description: 'the description of the token' }),
    expiresAt: Type.Optional(Nullable(Timestamp('until when the token works; for ever when left out'))),
  },
  { title: 'createPatSchema', description: 'The properties of a new personal access token.' },
);
export type CreatePatBody = Static<typeof CreatePatBody>;

/** Emits `pat-created`. */
export const CreateOwnPat = defineOperation({
  subject: 'call.gateway.create-own-pat',
  operationId: 'createPat',
  summary: 'Create a personal access token',
  description: 'Creates a key that acts as the caller. The secret is shown only in this response.',
  http: { method: 'POST', url: '/api/admin/user/tokens', status: 201 },
  permission: 'authenticated',
  body: CreatePatBody,
  reply: CreatedPat,
  errors: ['ValidationError', 'ForbiddenError', 'OperationDeniedError', 'NameExistsError'],
});

/** Emits `pat-created`. */
export const CreateUserPat = defineOperation({
  subject: 'call.gateway.create-user-pat',
  operationId: 'createUserToken',
  summary: 'Create a token of a user',
  description:
    'Creates a key that acts as the user: the first one, with which the user creates others. The secret is shown only in this response.',
  tag: 'Users',
  http: { method: 'POST', url: '/api/admin/user-admin/:id/token', status: 201 },
  permission: 'ADMIN',
  params: AccountPath,
  body: CreatePatBody,
  reply: CreatedPat,
  errors: ['ValidationError', 'NotFoundError', 'OperationDeniedError', 'NameExistsError'],
});

/** Emits `pat-deleted`. */
export const DeleteOwnPat = defineOperation({
  subject: 'call.gateway.delete-own-pat',
  operationId: 'deletePat',
  summary: 'Delete a personal access token',
  description: 'Deletes one of the own personal access tokens. It stops working.',
  http: { method: 'DELETE', url: '/api/admin/user/tokens/:id', anyContentType: true },
  permission: 'authenticated',
  params: AccountPath,
  errors: ['ForbiddenError', 'NotFoundError', 'InvalidOperationError'],
});

/** Emits `pat-deleted`. */
export const DeleteUserPat = defineOperation({
  subject: 'call.gateway.delete-user-pat',
  operationId: 'deleteUserToken',
  summary: 'Delete a token of a user',
  description: 'Deletes a token of a user. It stops working.',
  tag: 'Users',
  http: { method: 'DELETE', url: '/api/admin/user-admin/:id/token/:tokenId', anyContentType: true },
  permission: 'ADMIN',
  params: AccountTokenPath,
  errors: ['NotFoundError', 'InvalidOperationError'],
});

export const ListOwnPats = defineOperation({
  subject: 'call.gateway.list-own-pats',
  operationId: 'getPats',
  summary: 'List the own personal access tokens',
  description: 'Returns the personal access tokens of the caller, without their secrets.',
  http: { method: 'GET', url: '/api/admin/user/tokens' },
  permission: 'authenticated',
  reply: Pats,
  errors: ['ForbiddenError'],
});

export const ListUserPats = defineOperation({
  subject: 'call.gateway.list-user-pats',
  operationId: 'getUserTokens',
  summary: 'List the tokens of a user',
  description: 'Returns the tokens of a user, without their secrets.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user-admin/:id/token' },
  permission: 'ADMIN',
  params: AccountPath,
  reply: Pats,
});
