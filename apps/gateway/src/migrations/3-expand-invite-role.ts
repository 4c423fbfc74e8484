import type { SchemaMigration } from '@bunting/database';

/** The root role that users get who sign up by an invitation link: as before, Viewer. */
export const inviteRole: SchemaMigration = {
  name: '3-expand-invite-role',
  statements: ['alter table invite_link add column root_role_id int not null default 3'],
};
