import type { Caller } from '@bunting/contracts';
import { authorNameOf, displayNameOf, nameInEvents, type UserNames } from '../../access/users/account.ts';

/** A user with its rights, as `userRightsSql` selects them. */
export interface UserRightsRow {
  readonly user_id: number;
  readonly user_name: string | null;
  readonly username: string | null;
  readonly email: string | null;
  readonly access: Pick<Caller, 'grants' | 'hiddenProjects' | 'proposalDeniedProjects'>;
}

/** SQL: whether a grant is that of an administrator, as `isAdministrator` decides it. */
export const isAdministratorSql = (grant: string): string =>
  `(${grant}.permission = 'ADMIN' and ${grant}.project is null and ${grant}.environment is null)`;

/**
 * SQL: the rights of the row `u` of `api_user`. A project that is not open is closed to users without a role in it and without a grant for it
 * alone. A private project that was deleted leaves a row without roles and grants, so that it is hidden from all but administrators.
 */
export const userRightsSql = `(
  with granted as materialized (select permission, project, environment from user_grant where user_id = u.id),
  closed as (
    select id, case when pending_private_version is null then mode else 'private' end as mode from project p
    where (mode <> 'open' or pending_private_version is not null)
      and not exists (select from granted where ${isAdministratorSql('granted')})
      and not exists (select from granted where granted.project = p.id)
      and not exists (select from project_member m where m.user_id = u.id and m.project = p.id)
  )
  select json_build_object(
    'grants', coalesce((select json_agg(json_strip_nulls(row_to_json(granted))) from granted), '[]'),
    'hiddenProjects', (select json_agg(id order by id) from closed where mode = 'private'),
    'proposalDeniedProjects', (select json_agg(id order by id) from closed where mode = 'protected')))`;

const callerNamesOf = (names: UserNames): Pick<Caller, 'name' | 'displayName' | 'username'> => {
  const name = nameInEvents(names);
  const displayName = displayNameOf(names);
  const username = authorNameOf(names);
  return { name, ...(displayName === name ? {} : { displayName }), ...(username === name ? {} : { username }) };
};

/** The caller that services receive for a user, with the user's current rights. */
export const callerOf = ({ user_id, user_name, username, email, access }: UserRightsRow, tokenId?: string): Caller => ({
  id: user_id,
  ...callerNamesOf({ name: user_name, username, email }),
  ...(tokenId === undefined ? {} : { tokenId }),
  grants: access.grants,
  ...(access.hiddenProjects ? { hiddenProjects: access.hiddenProjects } : {}),
  ...(access.proposalDeniedProjects ? { proposalDeniedProjects: access.proposalDeniedProjects } : {}),
});
