import type { SchemaStep } from '@bunting/database';

/** What Owners may do in their project (admin-api.md 7.5). */
const ofOwners = [
  'CREATE_FEATURE',
  'UPDATE_FEATURE',
  'DELETE_FEATURE',
  'MOVE_FEATURE_TOGGLE',
  'UPDATE_FEATURE_DEPENDENCY',
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
const notOfMembers = ['MOVE_FEATURE_TOGGLE', 'UPDATE_PROJECT', 'DELETE_PROJECT'];

/** What Editors may do wherever they are; in the project `default` they may do what Owners may. */
const ofEditors = [
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

const given = (role: number, permissions: readonly string[], project?: string): string[] =>
  permissions.map((permission) => `(${role}, '${permission}', ${project === undefined ? 'null' : `'${project}'`})`);

/**
 * Who may do what: roles with their permissions, users and service accounts, groups, and the roles that both have in projects.
 * `project` is what the features service told of projects. `user_grant` is the one place where rights are added up.
 */
export const rolesAndPeople: SchemaStep = {
  name: '2026-11-22-roles-and-people',
  statements: [
    `create table role (
      id integer generated always as identity (start with 9) primary key,
      name text not null,
      description text not null default '',
      type text not null check (type in ('root', 'project', 'root-custom', 'custom'))
    )`,
    'create unique index role_by_name on role (lower(name))',
    `create table role_permission (
      role_id integer not null references role on delete cascade,
      permission text not null,
      project text,
      environment text,
      unique nulls not distinct (role_id, permission, project, environment)
    )`,
    `insert into role (id, type, name, description) overriding system value values
      (1, 'root', 'Admin', 'May do everything, everywhere.'),
      (2, 'root', 'Editor', 'May change what all projects share, create projects, and do what an Owner may in the project default.'),
      (3, 'root', 'Viewer', 'May read.'),
      (4, 'project', 'Owner', 'May do everything in the project but approve, apply and skip change requests.'),
      (5, 'project', 'Member', 'May change features in the project, but not the project.'),
      (6, 'project', 'Reader', 'May read the project when it is private.'),
      (7, 'project', 'Change reviewer', 'May approve and reject change requests of the project.'),
      (8, 'project', 'Change releaser', 'May approve, reject, apply and schedule change requests of the project.')`,
    `insert into role_permission (role_id, permission, project) values ${[
      ...given(1, ['ADMIN']),
      ...given(2, ofEditors),
      ...given(2, ofOwners, 'default'),
      ...given(4, ofOwners),
      ...given(
        5,
        ofOwners.filter((permission) => !notOfMembers.includes(permission)),
      ),
      ...given(7, ['APPROVE_CHANGE_REQUEST']),
      ...given(8, ['APPROVE_CHANGE_REQUEST', 'APPLY_CHANGE_REQUEST']),
    ].join(', ')}`,

    `alter table api_user
      add column root_role_id integer references role,
      add column is_service boolean not null default false,
      add column is_active boolean not null default true,
      add column seen_at timestamptz,
      add column deleted_at timestamptz`,
    `update api_user set root_role_id = case root_role when 'admin' then 1 when 'editor' then 2 else 3 end`,
    'alter table api_user alter column root_role_id set not null, drop column root_role',
    'alter table api_user drop constraint api_user_username_key, drop constraint api_user_email_key',
    'create unique index api_user_username_key on api_user (lower(username)) where deleted_at is null',
    'create unique index api_user_email_key on api_user (lower(email)) where deleted_at is null',
    'create index api_user_by_root_role on api_user (root_role_id)',

    `alter table api_token
      add column number integer generated always as identity,
      add column shown text,
      add column created_by integer,
      add column seen_at timestamptz`,
    "update api_token set shown = case when kind = 'user' then 'user:' else '' end || left(id::text, 8) || '...'",
    'alter table api_token alter column shown set not null, add unique (shown), add unique (number)',

    `create table user_group (
      id integer generated always as identity primary key,
      name text not null,
      description text,
      root_role_id integer references role,
      created_by text not null,
      created_at timestamptz not null default now()
    )`,
    'create unique index user_group_by_name on user_group (lower(name))',
    `create table group_member (
      group_id integer not null references user_group on delete cascade,
      user_id integer not null references api_user on delete cascade,
      created_by text not null,
      joined_at timestamptz not null default now(),
      primary key (group_id, user_id)
    )`,
    'create index group_member_by_user on group_member (user_id)',

    `create table project (
      id text primary key,
      mode text not null,
      version bigint not null
    )`,
    "create index project_closed on project (id) where mode <> 'open'",
    `create table project_user (
      project text not null,
      user_id integer not null references api_user on delete cascade,
      role_id integer not null references role,
      added_at timestamptz not null default now(),
      primary key (project, user_id, role_id)
    )`,
    'create index project_user_by_user on project_user (user_id)',
    'create index project_user_by_role on project_user (role_id)',
    `create table project_group (
      project text not null,
      group_id integer not null references user_group on delete cascade,
      role_id integer not null references role,
      added_at timestamptz not null default now(),
      primary key (project, group_id, role_id)
    )`,
    'create index project_group_by_group on project_group (group_id)',
    'create index project_group_by_role on project_group (role_id)',

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
      perform pg_notify('access_changed', '');
      return null;
    end $$`,
    ...['role_permission', 'api_user', 'user_group', 'group_member', 'project', 'project_user', 'project_group'].map(
      (table) => `create trigger access_changed after insert or delete or update ${
        table === 'api_user' ? 'of name, username, email, root_role_id, is_active, deleted_at ' : ''
      }on ${table}
        for each statement execute function access_changed()`,
    ),
    `create trigger access_changed after insert or delete or update of revoked_at, expires_at, projects on api_token
      for each statement execute function access_changed()`,
  ],
};
