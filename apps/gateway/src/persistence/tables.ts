import { idempotencyTables, inboxTables, outboxTables } from '@bunting/outbox';
import type { SchemaStep } from '@bunting/database';
import { defineEntity, p } from '@mikro-orm/postgresql';
import type { TokenKind } from '../domain/access.ts';
import { deletedProjects } from './deleted-projects.ts';
import { rolesAndPeople } from './roles-and-people.ts';

export const ApiToken = defineEntity({
  name: 'ApiToken',
  tableName: 'api_token',
  properties: {
    id: p.uuid().primary(),
    kind: p.text().$type<TokenKind>(),
    name: p.text(),
    selector: p.text(),
    hash: p.blob(),
    shown: p.text(),
    sealed: p.blob().nullable(),
    userId: p.integer().nullable(),
    projects: p.array(),
    environment: p.text(),
    createdAt: p.datetime(),
    expiresAt: p.datetime().nullable(),
    revokedAt: p.datetime().nullable(),
    given: p.text().$type<'current' | 'replaced'>().nullable(),
  },
});

export const ApiUser = defineEntity({
  name: 'ApiUser',
  tableName: 'api_user',
  properties: {
    id: p.integer().primary().autoincrement(),
    name: p.text().nullable(),
    username: p.text().nullable(),
    email: p.text().nullable(),
    rootRoleId: p.integer(),
    createdAt: p.datetime(),
  },
});

const accessTables: SchemaStep = {
  name: '2026-11-21-access',
  statements: [
    `create table gateway_secret (
      name text primary key,
      value bytea,
      fingerprint bytea not null
    )`,
    `create table api_user (
      id integer generated always as identity primary key,
      name text,
      username text unique,
      email text unique,
      root_role text not null check (root_role in ('admin', 'editor', 'viewer')),
      created_at timestamptz not null default now(),
      check (num_nonnulls(name, username, email) > 0)
    )`,
    `create table api_token (
      id uuid primary key default gen_random_uuid(),
      kind text not null check (kind in ('admin', 'client', 'frontend', 'user')),
      name text not null,
      selector text not null unique,
      hash bytea not null check (octet_length(hash) = 32),
      user_id integer references api_user on delete cascade,
      projects text[] not null default '{*}',
      environment text not null default '*',
      created_at timestamptz not null default now(),
      expires_at timestamptz,
      revoked_at timestamptz,
      check ((kind = 'user') = (user_id is not null))
    )`,
    'create index api_token_by_user on api_token (user_id) where user_id is not null',
  ],
};

const groupMappings: SchemaStep = {
  name: '2026-11-23-group-mappings',
  statements: ["alter table user_group add column mappings_sso text[] not null default '{}'"],
};

/** Marks the admin token that `BUNTING_ADMIN_TOKEN` gives, and those that it gave before and another value replaced. */
const givenAdminToken: SchemaStep = {
  name: '2026-11-24-given-admin-token',
  statements: [
    "alter table api_token add column given text check (given is null or given in ('current', 'replaced') and kind = 'admin')",
  ],
};

/** The secret of an SDK token, encrypted; null where it is kept as a hash alone, as those of people and administrators are. */
const sealedTokens: SchemaStep = {
  name: '2026-11-24-sealed-tokens',
  statements: [
    "alter table api_token add column sealed bytea check (sealed is null or kind in ('client', 'frontend'))",
  ],
};

/** The whole schema of the gateway's database. */
export const gatewaySteps: readonly SchemaStep[] = [
  outboxTables,
  accessTables,
  inboxTables,
  rolesAndPeople,
  deletedProjects,
  idempotencyTables,
  groupMappings,
  givenAdminToken,
  sealedTokens,
];
export const gatewayEntities = [ApiToken, ApiUser] as const;
