import type { SchemaMigration } from '@bunting/database';

/** The groups and the roles in projects that users get who sign up by an invitation link, and who gives them. */
export const inviteAccess: SchemaMigration = {
  name: '4-expand-invite-access',
  statements: [
    'alter table invite_link add column created_by_id int',
    `create table invite_group (
      link_id uuid not null references invite_link (id) on delete cascade,
      group_id int not null references user_group (id) on update cascade on delete cascade,
      primary key (link_id, group_id)
    )`,
    'create index invite_group_by_group on invite_group (group_id)',
    `create table invite_project (
      link_id uuid not null references invite_link (id) on delete cascade,
      project text not null,
      role_id int not null references role (id) on delete cascade,
      primary key (link_id, project, role_id)
    )`,
    'create index invite_project_by_project on invite_project (project)',
    'create index invite_project_by_role on invite_project (role_id)',
  ],
};
