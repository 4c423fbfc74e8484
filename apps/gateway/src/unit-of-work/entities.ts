import type { Permission, Role } from '@bunting/contracts';
import { entitySql, TimestampColumn, TextArray } from '@bunting/database/entities';
import { defineEntity, p } from '@mikro-orm/postgresql';
import type { UnusedGroupAttributes, UnusedUserAttributes } from '../access/scim/scim-users.ts';
import type { TokenKind } from '../access/tokens/token.ts';

export const RoleEntity = defineEntity({
  name: 'Role',
  tableName: 'role',
  properties: {
    id: p.integer().primary(),
    name: p.text(),
    description: p.text().default(''),
    type: p.text().$type<Role['type']>(),
  },
  checks: [{ name: 'role_type', expression: "type in ('root', 'project', 'root-custom', 'custom')" }],
  uniques: [{ name: 'role_by_name', expression: 'create unique index role_by_name on role (lower(name))' }],
});

export const RolePermissionEntity = defineEntity({
  name: 'RolePermission',
  tableName: 'role_permission',
  properties: {
    role: p.manyToOne(RoleEntity).mapToPk().joinColumn('role_id').deleteRule('cascade'),
    permission: p.text().$type<Permission>(),
    project: p.text().strictNullable(),
    environment: p.text().strictNullable(),
    id: p.integer().primary(),
  },
  uniques: [
    {
      name: 'role_permission_once',
      expression:
        'create unique index role_permission_once on role_permission (role_id, permission, project, environment) nulls not distinct',
    },
  ],
});

/** A user or a service account. The row of a deleted one stays, for the events that name it. */
export const UserEntity = defineEntity({
  name: 'User',
  tableName: 'api_user',
  properties: {
    id: p.integer().primary(),
    name: p.text().strictNullable(),
    username: p.text().strictNullable(),
    email: p.text().strictNullable(),
    rootRole: p.manyToOne(RoleEntity).mapToPk().joinColumn('root_role_id').index('api_user_by_root_role'),
    isService: p.boolean().default(false),
    isActive: p.boolean().default(true),
    seenAt: p.type(TimestampColumn).strictNullable(),
    createdAt: p.type(TimestampColumn).defaultRaw('now()'),
    deletedAt: p.type(TimestampColumn).strictNullable().hidden(),
    /** what an identity provider manages of the user through SCIM; null for a user that none manages */
    provisioned: p.json<UnusedUserAttributes>().strictNullable(),
  },
  checks: [{ name: 'api_user_named', expression: 'num_nonnulls(name, username, email) > 0' }],
  uniques: [
    {
      name: 'api_user_username_key',
      expression: 'create unique index api_user_username_key on api_user (lower(username)) where deleted_at is null',
    },
    {
      name: 'api_user_email_key',
      expression: 'create unique index api_user_email_key on api_user (lower(email)) where deleted_at is null',
    },
  ],
});

export const TokenEntity = defineEntity({
  name: 'Token',
  tableName: 'api_token',
  properties: {
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    number: p.integer().autoincrement().unique('api_token_number'),
    kind: p.text().$type<TokenKind>(),
    name: p.text(),
    /** the masked secret, which lists show */
    shown: p.text().unique('api_token_shown'),
    selector: p.text().unique('api_token_selector'),
    hash: p.blob().$type<Buffer>().hidden(),
    /** the secret of an SDK token, encrypted; null where only its hash is stored */
    sealed: p.blob().$type<Buffer>().strictNullable(),
    user: p.manyToOne(UserEntity).mapToPk().joinColumn('user_id').strictNullable().deleteRule('cascade'),
    projects: p.type(TextArray).defaultRaw("'{*}'"),
    /** deleted projects that the token was for: SDKs that had features of them are sent the removals */
    deletedProjects: p.type(TextArray).defaultRaw("'{}'").hidden(),
    environment: p.text().default('*'),
    createdBy: p.integer().strictNullable().hidden(),
    createdAt: p.type(TimestampColumn).defaultRaw('now()'),
    expiresAt: p.type(TimestampColumn).strictNullable(),
    seenAt: p.type(TimestampColumn).strictNullable(),
    revokedAt: p.type(TimestampColumn).strictNullable().hidden(),
    /** marks the admin token of the current value of `BUNTING_ADMIN_TOKEN`, and those of its replaced values */
    configured: p.text().$type<'current' | 'replaced'>().strictNullable().hidden(),
  },
  checks: [
    { name: 'api_token_kind', expression: "kind in ('admin', 'client', 'frontend', 'user')" },
    { name: 'api_token_hash', expression: 'octet_length(hash) = 32' },
    { name: 'api_token_user', expression: "(kind = 'user') = (user_id is not null)" },
    {
      name: 'api_token_configured',
      expression: "configured is null or configured in ('current', 'replaced') and kind = 'admin'",
    },
    { name: 'api_token_sealed', expression: "sealed is null or kind in ('client', 'frontend')" },
  ],
  indexes: [{ name: 'api_token_by_user', properties: ['user'], where: 'user_id is not null' }],
});

/** A browser in which a user is signed in. Its row is deleted when it ends. */
export const SessionEntity = defineEntity({
  name: 'Session',
  tableName: 'user_session',
  properties: {
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    user: p
      .manyToOne(UserEntity)
      .mapToPk()
      .joinColumn('user_id')
      .deleteRule('cascade')
      .index('user_session_by_user')
      .hidden(),
    selector: p.text().unique('user_session_selector').hidden(),
    hash: p.blob().$type<Buffer>().hidden(),
    userAgent: p.text().default(''),
    address: p.text().default(''),
    createdAt: p.type(TimestampColumn).defaultRaw('now()'),
    seenAt: p.type(TimestampColumn).defaultRaw('now()'),
    expiresAt: p.type(TimestampColumn).index('user_session_by_expiry'),
  },
  checks: [{ name: 'user_session_hash', expression: 'octet_length(hash) = 32' }],
});

/** A password of a user, as a hash. The newest one of a user is valid; the others may not be reused. */
export const PasswordEntity = defineEntity({
  name: 'Password',
  tableName: 'user_password',
  properties: {
    id: p.integer().primary(),
    user: p.manyToOne(UserEntity).mapToPk().joinColumn('user_id').deleteRule('cascade').index('user_password_by_user'),
    hash: p.text().hidden(),
    createdAt: p.type(TimestampColumn).defaultRaw('now()'),
  },
});

/** The subject of an OpenID provider that a user is linked to: a subject never changes, while an e-mail address can. */
export const IdentityEntity = defineEntity({
  name: 'Identity',
  tableName: 'user_identity',
  properties: {
    issuer: p.text().primary(),
    subject: p.text().primary(),
    user: p.manyToOne(UserEntity).mapToPk().joinColumn('user_id').deleteRule('cascade').index('user_identity_by_user'),
    createdAt: p.type(TimestampColumn).defaultRaw('now()'),
  },
});

/** A link that works once: to choose a password, or to create the first administrator. */
export const LinkEntity = defineEntity({
  name: 'Link',
  tableName: 'sign_in_link',
  properties: {
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    purpose: p.text().$type<'set-password' | 'create-first-admin'>(),
    user: p
      .manyToOne(UserEntity)
      .mapToPk()
      .joinColumn('user_id')
      .strictNullable()
      .deleteRule('cascade')
      .index('sign_in_link_by_user'),
    selector: p.text().unique('sign_in_link_selector'),
    hash: p.blob().$type<Buffer>(),
    createdBy: p.text().strictNullable(),
    expiresAt: p.type(TimestampColumn),
    usedAt: p.type(TimestampColumn).strictNullable(),
  },
  checks: [
    { name: 'sign_in_link_purpose', expression: "purpose in ('set-password', 'create-first-admin')" },
    { name: 'sign_in_link_user', expression: "(purpose = 'set-password') = (user_id is not null)" },
    { name: 'sign_in_link_hash', expression: 'octet_length(hash) = 32' },
  ],
});

/** A link by which users create their own accounts. Its secret is computed from its id and the token key. */
export const InviteLinkEntity = defineEntity({
  name: 'InviteLink',
  tableName: 'invite_link',
  properties: {
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    name: p.text(),
    enabled: p.boolean().default(true),
    expiresAt: p.type(TimestampColumn),
    createdAt: p.type(TimestampColumn).defaultRaw('now()'),
    createdBy: p.text(),
    /** no reference: a role that is deleted leaves the link, which gives Viewer then */
    rootRole: p.integer().fieldName('root_role_id').default(3),
    /** who gives its groups and roles in projects; null for a link of an older version, which gives none */
    createdById: p.integer().nullable(),
  },
});

export const GroupEntity = defineEntity({
  name: 'Group',
  tableName: 'user_group',
  properties: {
    id: p.integer().primary(),
    name: p.text(),
    description: p.text().strictNullable(),
    mappingsSSO: p.type(TextArray).fieldName('mappings_sso').defaultRaw("'{}'"),
    rootRole: p.manyToOne(RoleEntity).mapToPk().joinColumn('root_role_id').strictNullable().deleteRule('no action'),
    createdBy: p.text(),
    createdAt: p.type(TimestampColumn).defaultRaw('now()'),
    /** what an identity provider manages of the group through SCIM; null for a group that none manages */
    provisioned: p.json<UnusedGroupAttributes>().strictNullable().hidden(),
  },
  uniques: [
    { name: 'user_group_by_name', expression: 'create unique index user_group_by_name on user_group (lower(name))' },
  ],
});

function userKey() {
  return p.manyToOne(UserEntity).mapToPk().joinColumn('user_id').primary().deleteRule('cascade');
}
function groupKey() {
  return p.manyToOne(GroupEntity).mapToPk().joinColumn('group_id').primary().deleteRule('cascade');
}
function roleKey() {
  return p.manyToOne(RoleEntity).mapToPk().joinColumn('role_id').primary();
}

export const GroupMemberEntity = defineEntity({
  name: 'GroupMember',
  tableName: 'group_member',
  properties: {
    group: groupKey(),
    user: userKey().index('group_member_by_user'),
    createdBy: p.text(),
    /** whether single sign-on added the member, and removes it when the provider no longer names the group */
    isSynced: p.boolean().default(false),
    joinedAt: p.type(TimestampColumn).defaultRaw('now()'),
  },
});

export const ProjectUserEntity = defineEntity({
  name: 'ProjectUser',
  tableName: 'project_user',
  properties: {
    project: p.text().primary(),
    assignee: userKey().index('project_user_by_user'),
    role: roleKey().index('project_user_by_role'),
    addedAt: p.type(TimestampColumn).defaultRaw('now()'),
  },
});

export const ProjectGroupEntity = defineEntity({
  name: 'ProjectGroup',
  tableName: 'project_group',
  properties: {
    project: p.text().primary(),
    assignee: groupKey().index('project_group_by_group'),
    role: roleKey().index('project_group_by_role'),
    addedAt: p.type(TimestampColumn).defaultRaw('now()'),
  },
});

export const gatewayEntities = [
  RoleEntity,
  RolePermissionEntity,
  UserEntity,
  TokenEntity,
  SessionEntity,
  PasswordEntity,
  IdentityEntity,
  LinkEntity,
  InviteLinkEntity,
  GroupEntity,
  GroupMemberEntity,
  ProjectUserEntity,
  ProjectGroupEntity,
];

/** The names of the columns of all entities, for SQL that is written by hand. */
export const gatewaySql = entitySql(gatewayEntities);
