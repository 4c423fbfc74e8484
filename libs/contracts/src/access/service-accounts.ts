import { Type, type Static } from 'typebox';
import { operationsOf } from '../operation.ts';
import { AccountPath, AccountTokenPath } from '../paths.ts';
import { PageQuery } from '../schemas.ts';
import { AccountText, User, RootRole, rootRoleReference } from './account.ts';
import { CreatedPat, CreatePatBody, Pats, Pat } from './personal-access-tokens.ts';

const defineOperation = operationsOf('Service Accounts');

const { active } = User.properties;

export const ServiceAccounts = Type.Object(
  {
    serviceAccounts: Type.Array(
      Type.Object({ ...User.properties, tokens: Type.Array(Pat, { description: 'its keys' }) }),
      { description: 'the service accounts, by their ids' },
    ),
    rootRoles: Type.Array(RootRole, { description: 'the roles that a service account can have everywhere' }),
  },
  { title: 'serviceAccountsSchema', description: 'The service accounts.' },
);
export type ServiceAccounts = Static<typeof ServiceAccounts>;

export const CreateServiceAccountBody = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 255, description: 'the username of the account' }),
    name: Type.Optional(AccountText('the name of the account')),
    rootRole: rootRoleReference,
  },
  { title: 'createServiceAccountSchema', description: 'The properties of a new service account.' },
);

export const UpdateServiceAccountBody = Type.Object(
  {
    name: Type.Optional(AccountText('the name of the account')),
    rootRole: Type.Optional(rootRoleReference),
    active: Type.Optional(active),
  },
  { title: 'updateServiceAccountSchema', description: 'The properties of a service account to change.' },
);

/** Emits `pat-created`. */
export const CreateServiceAccountToken = defineOperation({
  subject: 'call.gateway.create-service-account-token',
  summary: 'Create a token of a service account',
  description: 'Creates a key that acts as the service account. The secret is shown only in this response.',
  http: { method: 'POST', url: '/api/admin/service-account/:id/token', status: 201 },
  permission: 'ADMIN',
  params: AccountPath,
  body: CreatePatBody,
  reply: CreatedPat,
  errors: ['ValidationError', 'NotFoundError', 'OperationDeniedError', 'NameExistsError'],
});

/** Emits `service-account-created`. */
export const CreateServiceAccount = defineOperation({
  subject: 'call.gateway.create-service-account',
  summary: 'Create a service account',
  description: 'Adds an account for a machine.',
  http: {
    method: 'POST',
    url: '/api/admin/service-account',
    status: 201,
    location: (_request, created: User) => `service-account/${created.id}`,
  },
  permission: 'ADMIN',
  body: CreateServiceAccountBody,
  reply: User,
});

/** Emits `pat-deleted`. */
export const DeleteServiceAccountToken = defineOperation({
  subject: 'call.gateway.delete-service-account-token',
  summary: 'Delete a token of a service account',
  description: 'Deletes a token of a service account. It stops working.',
  http: { method: 'DELETE', url: '/api/admin/service-account/:id/token/:tokenId', anyContentType: true },
  permission: 'ADMIN',
  params: AccountTokenPath,
  errors: ['NotFoundError', 'InvalidOperationError'],
});

/** Emits `service-account-deleted`. */
export const DeleteServiceAccount = defineOperation({
  subject: 'call.gateway.delete-service-account',
  summary: 'Delete a service account',
  description: 'Deletes a service account. All its keys stop working.',
  http: { method: 'DELETE', url: '/api/admin/service-account/:id', anyContentType: true },
  permission: 'ADMIN',
  params: AccountPath,
  errors: ['NotFoundError', 'InvalidOperationError'],
});

export const ListServiceAccountTokens = defineOperation({
  subject: 'call.gateway.list-service-account-tokens',
  operationId: 'getServiceAccountTokens',
  summary: 'List the tokens of a service account',
  description: 'Returns the tokens of a service account, without their secrets.',
  http: { method: 'GET', url: '/api/admin/service-account/:id/token' },
  permission: 'ADMIN',
  params: AccountPath,
  reply: Pats,
});

export const ListServiceAccounts = defineOperation({
  subject: 'call.gateway.list-service-accounts',
  operationId: 'getServiceAccounts',
  summary: 'List the service accounts',
  description: 'Returns the service accounts with their tokens, without secrets.',
  http: { method: 'GET', url: '/api/admin/service-account' },
  permission: 'ADMIN',
  query: PageQuery('service accounts'),
  reply: ServiceAccounts,
});

/** Emits `service-account-updated`. */
export const UpdateServiceAccount = defineOperation({
  subject: 'call.gateway.update-service-account',
  summary: 'Update a service account',
  description: 'Changes name, root role, and whether the keys of the account work.',
  http: { method: 'PUT', url: '/api/admin/service-account/:id' },
  permission: 'ADMIN',
  params: AccountPath,
  body: UpdateServiceAccountBody,
  reply: User,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError'],
});
