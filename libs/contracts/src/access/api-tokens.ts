import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { ProjectTokenPath, TokenPath } from '../paths.ts';
import type { Permission } from '../permissions.ts';
import { notBlank, Nullable, Timestamp } from '../schemas.ts';

const defineOperation = operationsOf('API tokens');

const secret = Type.String({
  description:
    'the key itself when it was just created; later an identifying prefix and three dots. With GATEWAY_READABLE_SDK_TOKENS, lists show the key of an application to those who may create such keys',
});

export const ApiToken = Type.Object(
  {
    secret,
    tokenName: Type.String({ description: 'the name of the token' }),
    username: Type.String({ description: 'the same as `tokenName`' }),
    type: Type.Enum(['admin', 'client', 'frontend'], { type: 'string', description: 'the type of the token' }),
    environment: Type.String({ description: 'the environment of the token; `*` for all' }),
    project: Type.String({ description: 'the first of the projects' }),
    projects: Type.Array(Type.String(), { description: 'the projects of the token; `*` for all' }),
    alias: Nullable(Type.String(), { description: 'always null' }),
    createdAt: Timestamp('when the token was created'),
    expiresAt: Type.Optional(
      Nullable(Timestamp('until when the token works; null, or left out when it was just created: for ever')),
    ),
    seenAt: Type.Optional(
      Nullable(Timestamp('when the token was last used; null, or left out when it was just created: never')),
    ),
  },
  { title: 'apiTokenSchema', description: 'An API token of an administrator or an application.' },
);
export type ApiToken = Static<typeof ApiToken>;

/** What is done with API tokens, each with a permission of its own for client and for frontend tokens. */
export type ApiTokenAction = 'READ' | 'CREATE' | 'UPDATE' | 'DELETE';

/** The permission that an action on API tokens of a type takes. */
export function apiTokenPermission(action: ApiTokenAction, type: ApiToken['type']): Permission {
  return type === 'admin' ? 'ADMIN' : (`${action}_${type === 'client' ? 'CLIENT' : 'FRONTEND'}_API_TOKEN` as const);
}

export const ApiTokens = Type.Object(
  { tokens: Type.Array(ApiToken, { description: 'the tokens, newest last' }) },
  { title: 'apiTokensSchema', description: 'Keys of administrators and applications.' },
);
export type ApiTokens = Static<typeof ApiTokens>;

const name = Type.String({ maxLength: 255, ...notBlank, description: 'the name of the token' });
const projectIds = {
  minItems: 1,
  maxItems: 500,
  description: 'the projects of the token; default: all',
};

export const CreateApiTokenBody = Type.Object(
  {
    tokenName: Type.Optional(name),
    username: Type.Optional(name),
    type: Type.String({
      maxLength: 20,
      form: 'token-type',
      documentedPattern:
        '^([Cc][Ll][Ii][Ee][Nn][Tt]|[Bb][Aa][Cc][Kk][Ee][Nn][Dd]|[Ff][Rr][Oo][Nn][Tt][Ee][Nn][Dd]|[Aa][Dd][Mm][Ii][Nn])$',
      description: '`client`, `frontend` or `admin`, in any case',
    }),
    environment: Type.Optional(Type.String({ maxLength: 100, description: 'the environment of the token' })),
    project: Type.Optional(Type.String({ maxLength: 100, description: 'the only project of the token' })),
    projects: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), projectIds)),
    expiresAt: Type.Optional(Nullable(Timestamp('until when the token works; for ever when left out'))),
  },
  {
    title: 'createApiTokenSchema',
    description: 'The properties of a new token.',
    anyOf: [{ required: ['tokenName'] }, { required: ['username'] }],
  },
);
export type CreateApiTokenBody = Static<typeof CreateApiTokenBody>;

export const UpdateApiTokenBody = Type.Object(
  { expiresAt: Timestamp('until when the token works') },
  { title: 'updateApiTokenSchema', description: 'The properties of a token to change.' },
);

/** Emits `api-token-created`. */
export const CreateApiToken = defineOperation({
  subject: 'call.gateway.create-api-token',
  summary: 'Create an API token',
  description: 'Creates a key of an administrator or an application. The secret is shown only in this response.',
  http: { method: 'POST', url: '/api/admin/api-tokens', status: 201, location: () => 'api-tokens' },
  permission: ['ADMIN', 'CREATE_CLIENT_API_TOKEN', 'CREATE_FRONTEND_API_TOKEN'],
  body: CreateApiTokenBody,
  reply: ApiToken,
  errors: ['ValidationError', 'ExceedsLimitError', 'OperationDeniedError', 'NotFoundError'],
});

/** Emits `api-token-created`. */
export const CreateProjectApiToken = defineOperation({
  subject: 'call.gateway.create-project-api-token',
  summary: 'Create an API token for a project',
  description: 'Creates a key of an application for only this project. The secret is shown only in this response.',
  tag: 'Projects',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/api-tokens', status: 201, location: () => 'api-tokens' },
  permission: 'CREATE_PROJECT_API_TOKEN',
  body: CreateApiTokenBody,
  reply: ApiToken,
  errors: ['ValidationError', 'ExceedsLimitError', 'NotFoundError', 'OperationDeniedError'],
});

/** Emits `api-token-deleted`. */
export const DeleteApiToken = defineOperation({
  subject: 'call.gateway.delete-api-token',
  summary: 'Delete an API token',
  description:
    'Finds the token by its secret or by the shortened secret that lists show. It stops working. One that does not exist is no error.',
  http: { method: 'DELETE', url: '/api/admin/api-tokens/:token', anyContentType: true },
  permission: ['ADMIN', 'DELETE_CLIENT_API_TOKEN', 'DELETE_FRONTEND_API_TOKEN'],
  params: TokenPath,
  errors: ['NotFoundError', 'InvalidOperationError'],
});

/** Emits `api-token-deleted`. */
export const DeleteProjectApiToken = defineOperation({
  subject: 'call.gateway.delete-project-api-token',
  summary: 'Delete an API token of a project',
  description: 'Deletes a token that is for this project alone. It stops working.',
  tag: 'Projects',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId/api-tokens/:token', anyContentType: true },
  permission: 'DELETE_PROJECT_API_TOKEN',
  params: ProjectTokenPath,
});

export const GetApiTokensByName = defineOperation({
  subject: 'call.gateway.get-api-tokens-by-name',
  summary: 'List the API tokens of a name',
  description: 'Returns the tokens of that name, without their secrets.',
  http: { method: 'GET', url: '/api/admin/api-tokens/:name' },
  permission: ['ADMIN', 'READ_CLIENT_API_TOKEN', 'READ_FRONTEND_API_TOKEN'],
  reply: ApiTokens,
  errors: [],
});

export const ListApiTokens = defineOperation({
  subject: 'call.gateway.list-api-tokens',
  operationId: 'getAllApiTokens',
  summary: 'List the API tokens',
  description:
    'Returns the tokens of the types that the caller may read. Their secrets are shortened, unless GATEWAY_READABLE_SDK_TOKENS is on and the caller may create such tokens.',
  http: { method: 'GET', url: '/api/admin/api-tokens' },
  permission: ['ADMIN', 'READ_CLIENT_API_TOKEN', 'READ_FRONTEND_API_TOKEN'],
  reply: ApiTokens,
});

export const ListProjectApiTokens = defineOperation({
  subject: 'call.gateway.list-project-api-tokens',
  operationId: 'getProjectApiTokens',
  summary: 'List the API tokens of a project',
  description:
    'Returns the tokens of the project. Their secrets are shortened, unless GATEWAY_READABLE_SDK_TOKENS is on and the caller may create such tokens.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/api-tokens' },
  permission: 'READ_PROJECT_API_TOKEN',
  reply: ApiTokens,
});

/** Emits `api-token-updated`. */
export const UpdateApiToken = defineOperation({
  subject: 'call.gateway.update-api-token',
  summary: 'Update the expiry of an API token',
  description:
    'Finds the token by its secret or by the shortened secret that lists show. One that does not exist is no error.',
  http: { method: 'PUT', url: '/api/admin/api-tokens/:token' },
  permission: ['ADMIN', 'UPDATE_CLIENT_API_TOKEN', 'UPDATE_FRONTEND_API_TOKEN'],
  params: TokenPath,
  body: UpdateApiTokenBody,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError', 'OperationDeniedError'],
});
