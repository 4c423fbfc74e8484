import type { SchemaMigration } from '@bunting/database';

/** The permissions of the role Owner in its project, as in Unleash. */
const ownerPermissions = [
  'CREATE_FEATURE',
  'UPDATE_FEATURE',
  'DELETE_FEATURE',
  'MOVE_FEATURE_TOGGLE',
  'UPDATE_FEATURE_DEPENDENCY',
  'UPDATE_PROJECT_SEGMENT',
  'UPDATE_FEATURE_VARIANTS',
  'UPDATE_PROJECT',
  'DELETE_PROJECT',
  'READ_PROJECT_API_TOKEN',
  'CREATE_PROJECT_API_TOKEN',
  'DELETE_PROJECT_API_TOKEN',
  'CREATE_FEATURE_STRATEGY',
  'UPDATE_FEATURE_STRATEGY',
  'DELETE_FEATURE_STRATEGY',
  'UPDATE_FEATURE_ENVIRONMENT',
  'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
];
/** The permissions of the role Owner that the role Member does not have. */
const permissionsOfOwnersOnly = ['MOVE_FEATURE_TOGGLE', 'UPDATE_PROJECT', 'DELETE_PROJECT'];

/** The permissions of the role Editor that hold everywhere; in the project `default` it also has those of the role Owner. */
const editorPermissions = [
  'CREATE_PROJECT',
  'CREATE_CONTEXT_FIELD',
  'UPDATE_CONTEXT_FIELD',
  'DELETE_CONTEXT_FIELD',
  'CREATE_SEGMENT',
  'UPDATE_SEGMENT',
  'DELETE_SEGMENT',
  'CREATE_STRATEGY',
  'UPDATE_STRATEGY',
  'DELETE_STRATEGY',
  'CREATE_TAG_TYPE',
  'UPDATE_TAG_TYPE',
  'DELETE_TAG_TYPE',
  'CREATE_ADDON',
  'UPDATE_ADDON',
  'DELETE_ADDON',
  'UPDATE_APPLICATION',
  'READ_CLIENT_API_TOKEN',
  'READ_FRONTEND_API_TOKEN',
];

const permissionRows = (role: number, permissions: readonly string[], project?: string): string[] =>
  permissions.map((permission) => `(${role}, '${permission}', ${project === undefined ? 'null' : `'${project}'`})`);

/** The tables of the entities, as MikroORM generates them. */
const tables = [
  `create table gateway_secret (
      name text not null,
      value bytea,
      fingerprint bytea not null,
      primary key (name)
    )`,
  `create table gateway_setting (
      name text not null,
      value jsonb not null,
      secret bytea,
      primary key (name)
    )`,
  `create table project (
      id text not null,
      mode text not null,
      version bigint not null,
      deleted_at timestamptz,
      pending_private_version bigint,
      pending_private_since timestamptz,
      primary key (id)
    )`,
  "create index project_closed on project (id) where mode <> 'open' or pending_private_version is not null",
  `create table role (
      id serial primary key,
      name text not null,
      description text not null default '',
      type text not null
    )`,
  'create unique index role_by_name on role (lower(name))',
  "alter table role add constraint role_type check (type in ('root', 'project', 'root-custom', 'custom'))",
  `create table api_user (
      id serial primary key,
      name text,
      username text,
      email text,
      root_role_id int not null,
      is_service boolean not null default false,
      is_active boolean not null default true,
      seen_at timestamptz,
      created_at timestamptz not null default now(),
      deleted_at timestamptz,
      provisioned jsonb
    )`,
  'create index api_user_by_root_role on api_user (root_role_id)',
  'create unique index api_user_username_key on api_user (lower(username)) where deleted_at is null',
  'create unique index api_user_email_key on api_user (lower(email)) where deleted_at is null',
  'alter table api_user add constraint api_user_named check (num_nonnulls(name, username, email) > 0)',
  `create table project_user (
      project text not null,
      user_id int not null,
      role_id int not null,
      added_at timestamptz not null default now(),
      primary key (project, user_id, role_id)
    )`,
  'create index project_user_by_user on project_user (user_id)',
  'create index project_user_by_role on project_user (role_id)',
  `create table api_token (
      id uuid not null default gen_random_uuid(),
      number serial,
      kind text not null,
      name text not null,
      shown text not null,
      selector text not null,
      hash bytea not null,
      sealed bytea,
      user_id int,
      projects text[] not null default '{*}',
      deleted_projects text[] not null default '{}',
      environment text not null default '*',
      created_by int,
      created_at timestamptz not null default now(),
      expires_at timestamptz,
      seen_at timestamptz,
      revoked_at timestamptz,
      configured text,
      primary key (id)
    )`,
  'alter table api_token add constraint api_token_number unique (number)',
  'alter table api_token add constraint api_token_shown unique (shown)',
  'alter table api_token add constraint api_token_selector unique (selector)',
  'create index api_token_by_user on api_token (user_id) where user_id is not null',
  "alter table api_token add constraint api_token_kind check (kind in ('admin', 'client', 'frontend', 'user'))",
  'alter table api_token add constraint api_token_hash check (octet_length(hash) = 32)',
  "alter table api_token add constraint api_token_user check ((kind = 'user') = (user_id is not null))",
  "alter table api_token add constraint api_token_configured check (configured is null or configured in ('current', 'replaced') and kind = 'admin')",
  "alter table api_token add constraint api_token_sealed check (sealed is null or kind in ('client', 'frontend'))",
  `create table user_session (
      id uuid not null default gen_random_uuid(),
      user_id int not null,
      selector text not null,
      hash bytea not null,
      user_agent text not null default '',
      address text not null default '',
      created_at timestamptz not null default now(),
      seen_at timestamptz not null default now(),
      expires_at timestamptz not null,
      primary key (id)
    )`,
  'create index user_session_by_user on user_session (user_id)',
  'create index user_session_by_expiry on user_session (expires_at)',
  'alter table user_session add constraint user_session_selector unique (selector)',
  'alter table user_session add constraint user_session_hash check (octet_length(hash) = 32)',
  `create table user_password (
      id serial primary key,
      user_id int not null,
      hash text not null,
      created_at timestamptz not null default now()
    )`,
  'create index user_password_by_user on user_password (user_id)',
  `create table user_identity (
      issuer text not null,
      subject text not null,
      user_id int not null,
      created_at timestamptz not null default now(),
      primary key (issuer, subject)
    )`,
  'create index user_identity_by_user on user_identity (user_id)',
  `create table sign_in_link (
      id uuid not null default gen_random_uuid(),
      purpose text not null,
      user_id int,
      selector text not null,
      hash bytea not null,
      created_by text,
      expires_at timestamptz not null,
      used_at timestamptz,
      primary key (id)
    )`,
  'create index sign_in_link_by_user on sign_in_link (user_id)',
  'alter table sign_in_link add constraint sign_in_link_selector unique (selector)',
  "alter table sign_in_link add constraint sign_in_link_purpose check (purpose in ('set-password', 'create-first-admin'))",
  "alter table sign_in_link add constraint sign_in_link_user check ((purpose = 'set-password') = (user_id is not null))",
  'alter table sign_in_link add constraint sign_in_link_hash check (octet_length(hash) = 32)',
  `create table invite_link (
      id uuid not null default gen_random_uuid(),
      name text not null,
      enabled boolean not null default true,
      expires_at timestamptz not null,
      created_at timestamptz not null default now(),
      created_by text not null,
      primary key (id)
    )`,
  `create table invited_user (
      user_id int not null,
      link_id uuid not null,
      primary key (user_id)
    )`,
  'create index invited_user_by_link on invited_user (link_id)',
  `create table role_permission (
      role_id int not null,
      permission text not null,
      project text,
      environment text,
      id serial primary key
    )`,
  'create unique index role_permission_once on role_permission (role_id, permission, project, environment) nulls not distinct',
  `create table user_group (
      id serial primary key,
      name text not null,
      description text,
      mappings_sso text[] not null default '{}',
      root_role_id int,
      created_by text not null,
      created_at timestamptz not null default now(),
      provisioned jsonb
    )`,
  'create unique index user_group_by_name on user_group (lower(name))',
  `create table project_group (
      project text not null,
      group_id int not null,
      role_id int not null,
      added_at timestamptz not null default now(),
      primary key (project, group_id, role_id)
    )`,
  'create index project_group_by_group on project_group (group_id)',
  'create index project_group_by_role on project_group (role_id)',
  `create table group_member (
      group_id int not null,
      user_id int not null,
      created_by text not null,
      is_synced boolean not null default false,
      joined_at timestamptz not null default now(),
      primary key (group_id, user_id)
    )`,
  'create index group_member_by_user on group_member (user_id)',
  'alter table api_user add constraint api_user_root_role_id_foreign foreign key (root_role_id) references role (id)',
  'alter table project_user add constraint project_user_user_id_foreign foreign key (user_id) references api_user (id) on delete cascade',
  'alter table project_user add constraint project_user_role_id_foreign foreign key (role_id) references role (id)',
  'alter table api_token add constraint api_token_user_id_foreign foreign key (user_id) references api_user (id) on delete cascade',
  'alter table user_session add constraint user_session_user_id_foreign foreign key (user_id) references api_user (id) on delete cascade',
  'alter table user_password add constraint user_password_user_id_foreign foreign key (user_id) references api_user (id) on delete cascade',
  'alter table user_identity add constraint user_identity_user_id_foreign foreign key (user_id) references api_user (id) on delete cascade',
  'alter table sign_in_link add constraint sign_in_link_user_id_foreign foreign key (user_id) references api_user (id) on delete cascade',
  'alter table invited_user add constraint invited_user_user_id_foreign foreign key (user_id) references api_user (id) on update cascade on delete cascade',
  'alter table invited_user add constraint invited_user_link_id_foreign foreign key (link_id) references invite_link (id) on delete cascade',
  'alter table role_permission add constraint role_permission_role_id_foreign foreign key (role_id) references role (id) on delete cascade',
  'alter table user_group add constraint user_group_root_role_id_foreign foreign key (root_role_id) references role (id) on delete no action',
  'alter table project_group add constraint project_group_group_id_foreign foreign key (group_id) references user_group (id) on delete cascade',
  'alter table project_group add constraint project_group_role_id_foreign foreign key (role_id) references role (id)',
  'alter table group_member add constraint group_member_group_id_foreign foreign key (group_id) references user_group (id) on update cascade on delete cascade',
  'alter table group_member add constraint group_member_user_id_foreign foreign key (user_id) references api_user (id) on update cascade on delete cascade',
];

/** Roles with an id below 9 are predefined. */
const predefinedRoles = [
  `insert into role (id, type, name, description) values
      (1, 'root', 'Admin', 'May do everything, everywhere.'),
      (2, 'root', 'Editor', 'May change what all projects share, create projects, and do what an Owner may in the project default.'),
      (3, 'root', 'Viewer', 'May read.'),
      (4, 'project', 'Owner', 'May do everything in the project but approve, apply and skip change requests.'),
      (5, 'project', 'Member', 'May change features in the project, but not the project.'),
      (6, 'project', 'Reader', 'May read the project when it is private.'),
      (7, 'project', 'Change reviewer', 'May approve and reject change requests of the project.'),
      (8, 'project', 'Change releaser', 'May approve, reject, apply and schedule change requests of the project.')`,
  `insert into role_permission (role_id, permission, project) values ${[
    ...permissionRows(1, ['ADMIN']),
    ...permissionRows(2, editorPermissions),
    ...permissionRows(2, ownerPermissions, 'default'),
    ...permissionRows(4, ownerPermissions),
    ...permissionRows(
      5,
      ownerPermissions.filter((permission) => !permissionsOfOwnersOnly.includes(permission)),
    ),
    ...permissionRows(7, ['APPROVE_CHANGE_REQUEST']),
    ...permissionRows(8, ['APPROVE_CHANGE_REQUEST', 'APPLY_CHANGE_REQUEST']),
  ].join(', ')}`,
  'alter sequence role_id_seq restart with 9',
];

/** The objects that entities of MikroORM do not express. The view `user_grant` alone combines rights; triggers notify of their changes. */
const viewsAndTriggers = [
  `create view project_member as
      select user_id, project, role_id from project_user
      union
      select user_id, project, role_id from project_group join group_member using (group_id)`,
  `create view user_grant as
      select u.id as user_id, permission, project, environment
      from api_user u join role_permission on role_id = root_role_id
      union
      select user_id, permission, project, environment
      from group_member join user_group g on g.id = group_id join role_permission on role_id = root_role_id
      union
      select user_id, permission, m.project, environment
      from project_member m join role_permission using (role_id)`,

  `create function access_changed() returns trigger language plpgsql as $$
    begin
      perform pg_notify('access_changed', tg_table_name);
      return null;
    end $$`,
  ...['role_permission', 'api_user', 'user_group', 'group_member', 'project', 'project_user', 'project_group'].map(
    (table) => `create trigger access_changed after insert or delete or update ${
      table === 'api_user' ? 'of name, username, email, root_role_id, is_active, deleted_at ' : ''
    }on ${table}
        for each statement execute function access_changed()`,
  ),
  `create trigger access_changed after insert or delete or update on gateway_setting
      for each statement execute function access_changed()`,
  `create trigger access_changed after insert or delete or update of revoked_at, expires_at, projects on api_token
      for each statement execute function access_changed()`,
  // Notifies for each row, not for each statement: the start of a session deletes expired ones, of which there are mostly none.
  `create trigger access_changed after delete on user_session
      for each row execute function access_changed()`,
];

export const initial: SchemaMigration = {
  name: '1-initial',
  statements: [...tables, ...predefinedRoles, ...viewsAndTriggers],
};
