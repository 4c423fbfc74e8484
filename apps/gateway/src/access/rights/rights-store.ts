import type { Caller, CountProjectMembers, Permission, ReplyOf, RoleHolders } from '@bunting/contracts';
import { onlyRow, prepared, type ReadDatabase } from '@bunting/database';
import { predefinedRole } from '../roles/role.ts';
import { wildcard } from '../tokens/token.ts';
import { authorNameOf, displayNameOf, nameInEvents, type UserNames } from '../users/account.ts';
import { avatarUrlOf, displayNameSql } from '../users/user-store.ts';

/** A user with its rights, as `userRightsSql` selects them. */
export interface UserRightsRow {
  readonly user_id: number;
  readonly user_name: string | null;
  readonly username: string | null;
  readonly email: string | null;
  readonly is_service: boolean;
  readonly access: Pick<Caller, 'grants' | 'hiddenProjects' | 'proposalDeniedProjects'>;
}

/** SQL: whether a grant is that of an administrator, as `isAdministrator` decides it. */
export function isAdministratorSql(grant: string): string {
  return `(${grant}.permission = 'ADMIN' and ${grant}.project is null and ${grant}.environment is null)`;
}

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

function callerNamesOf(names: UserNames): Pick<Caller, 'name' | 'displayName' | 'username'> {
  const name = nameInEvents(names);
  const displayName = displayNameOf(names);
  const username = authorNameOf(names);
  return { name, ...(displayName === name ? {} : { displayName }), ...(username === name ? {} : { username }) };
}

/** The caller that services receive for a user, with the user's current rights. */
export function callerOf(
  { user_id, user_name, username, email, is_service, access }: UserRightsRow,
  tokenId?: string,
): Caller {
  return {
    id: user_id,
    ...callerNamesOf({ name: user_name, username, email }),
    ...(tokenId === undefined ? {} : { tokenId }),
    ...(is_service ? { isService: true } : {}),
    grants: access.grants,
    ...(access.hiddenProjects ? { hiddenProjects: access.hiddenProjects } : {}),
    ...(access.proposalDeniedProjects ? { proposalDeniedProjects: access.proposalDeniedProjects } : {}),
  };
}

/** A user as other services show it. */
export interface UserSummary extends UserNames {
  readonly id: number;
  readonly imageUrl: string;
}

type MembersOfProject = ReplyOf<typeof CountProjectMembers>['projects'][number];

const usersAccess = prepared(`
  select u.id as user_id, u.name as user_name, u.username, u.email, u.is_service, ${userRightsSql} as access
  from api_user u where u.id = any ($1::integer[]) and u.is_active and u.deleted_at is null order by u.id`);

const permissionHolders = prepared(`
  select u.id, u.name, u.username, u.email, held."isMember"
  from api_user u cross join lateral (
    select bool_or(g.project is not null) as "isMember" from user_grant g
    where g.user_id = u.id and (g.permission = 'ADMIN' or g.permission = any ($1::text[]))
      and (g.project is null or g.project = $2)
      and (g.environment is null or $3::text is null or g.environment = $3)) as held
  where u.is_active and u.deleted_at is null and held."isMember" is not null
  order by lower(${displayNameSql('u.')}), u.id`);

/** Each table is read once for all projects: sub-selects for each of thousands took three times as long. */
const memberCountsAndOwners = prepared(`
  with member as (
    select project, user_id, min(since) as since
    from (
      select project, user_id, added_at as since from project_user
      union all
      select project, user_id, greatest(added_at, joined_at) from project_group join group_member using (group_id)) as assigned
    join api_user u on u.id = user_id and u.deleted_at is null
    where $1::text is null or project = $1
    group by project, user_id
  ), counted as (
    select project, count(*) as members, count(*) filter (where since > now() - interval '30 days') as added
    from member group by project
  ), owner as (
    select project, 0 as kind, u.id, lower(${displayNameSql('u.')}) as nth, u.name, u.username, u.email
    from project_user join api_user u on u.id = user_id
    where role_id = ${predefinedRole.owner} and u.deleted_at is null and ($1::text is null or project = $1)
    union all
    select project, 1, g.id, lower(g.name), g.name, null, null from project_group join user_group g on g.id = group_id
    where role_id = ${predefinedRole.owner} and ($1::text is null or project = $1)
  ), owned as (
    select project, json_agg(kind || ' ' || id order by kind, nth, id) as owners from owner group by project)
  select coalesce((
    select json_agg(json_build_object('kind', kind, 'id', id, 'name', name, 'username', username, 'email', email))
    from (select distinct kind, id, name, username, email from owner) as described), '[]') as owners, coalesce((
    select json_agg(json_build_array(project, coalesce(members, 0), coalesce(added, 0), coalesce(owners, '[]')) order by project)
    from (select project from project_user union select project from project_group) as of_project
    left join counted using (project) left join owned using (project)
    where $1::text is null or project = $1), '[]') as projects`);

interface OwnerRow extends UserNames {
  readonly kind: 0 | 1;
  readonly id: number;
}

interface MemberCounts {
  /** each owner once */
  readonly owners: readonly OwnerRow[];
  /** id, members, those added in the last 30 days, and the kind and id of each owner */
  readonly projects: readonly (readonly [id: string, count: number, added: number, owners: readonly string[]])[];
}

function ownerOf(row: OwnerRow): MembersOfProject['owners'][number] {
  return row.kind === 1
    ? { ownerType: 'group', name: row.name ?? '' }
    : { ownerType: 'user', name: displayNameOf(row), email: row.email, imageUrl: avatarUrlOf(row) };
}

const tokenCountsByEnvironment = prepared(`
  select environment as name, count(*) as tokens from api_token
  where kind in ('client', 'frontend') and revoked_at is null and environment <> '${wildcard}'
    and ($1::text is null or $1 = any (projects) or '${wildcard}' = any (projects)) and not projects <@ $2::text[]
  group by environment order by environment`);

// Without a project only the global permissions of root roles apply. A private project exists only for its members and administrators.
const roleHolders = prepared(`
  with assigned as (
    select id as user_id, root_role_id as role_id, null::integer as group_id from api_user
    union all
    select user_id, root_role_id, group_id from group_member join user_group g on g.id = group_id
    where root_role_id is not null
    union all
    select user_id, role_id, null from project_user where project = $1
    union all
    select user_id, role_id, group_id from project_group join group_member using (group_id) where project = $1
  ), holder as (
    select u.id, u.name, u.username, u.email, u.is_service,
      json_agg(json_build_object('role', role_id, 'group', group_id) order by role_id, group_id nulls first) as through
    from api_user u join assigned on assigned.user_id = u.id
    where u.is_active and u.deleted_at is null and (
      not exists (select from project where id = $1 and (mode = 'private' or pending_private_version is not null))
      or exists (
        select from user_grant g
        where g.user_id = u.id and (g.project = $1 or ${isAdministratorSql('g')}))
      or exists (select from project_member m where m.user_id = u.id and m.project = $1))
    group by u.id)
  select coalesce((
    select json_agg(json_build_object('id', id, 'name', name, 'username', username, 'email', email,
      'isService', is_service, 'through', through) order by lower(${displayNameSql()}), id)
    from holder), '[]') as users, coalesce((
    select json_agg(json_build_object('id', id, 'name', name) order by lower(name), id) from user_group
    where id in (select group_id from assigned)), '[]') as groups, coalesce((
    select json_agg(json_build_object('id', id, 'name', name, 'description', description, 'type', type,
      'permissions', coalesce((
        select json_agg(json_strip_nulls(json_build_object('name', permission, 'environment', environment))
          order by permission, environment nulls first)
        from (
          select distinct permission, environment from role_permission
          where role_id = role.id and (project is null or project = $1)) as permissions), '[]')) order by id)
    from role where id in (select role_id from assigned)), '[]') as roles`);

export function accessReader(database: ReadDatabase) {
  return {
    /** The active users among the ids, with their current rights. */
    usersWithRights: async (ids: readonly number[]): Promise<{ user: UserSummary; caller: Caller }[]> => {
      const rows = await database.read<UserRightsRow>(usersAccess, [ids]);
      return rows.map((row) => {
        const { user_id, user_name: name, username, email } = row;
        return {
          user: { id: user_id, name, username, email, imageUrl: avatarUrlOf({ id: user_id, username, email }) },
          caller: callerOf(row),
        };
      });
    },
    /**
     * Active users and service accounts with one of the permissions in a project and environment, ordered by name; members have it by a role in
     * the project.
     */
    findPermissionHolders: async (
      permissions: readonly Permission[],
      project: string,
      environment: string | undefined,
    ): Promise<(UserSummary & { readonly isMember: boolean })[]> => {
      const values = [permissions, project, environment ?? null];
      const rows = await database.read<UserNames & { readonly id: number; readonly isMember: boolean }>(
        permissionHolders,
        values,
      );
      return rows.map((row) => ({ ...row, imageUrl: avatarUrlOf(row) }));
    },
    /** The active users with the roles that apply in a project, or everywhere if none is named. */
    listRoleHolders: async (project: string | undefined): Promise<Omit<RoleHolders, 'version'>> => {
      const rows = await database.read<Omit<RoleHolders, 'version'>>(roleHolders, [project ?? null]);
      return onlyRow(rows, 'role-holders');
    },
    /** The JSON of the reply with the number of members, and the owners, of one project or of each that has users or groups with a role. */
    countProjectMembers: async (project: string | undefined): Promise<string> => {
      const rows = await database.read<MemberCounts>(memberCountsAndOwners, [project ?? null]);
      const { owners, projects } = onlyRow(rows, 'project members');
      // Few people own many projects: each is described once, since a picture costs a hash, and the JSON of thousands of owners its time.
      const described = new Map(owners.map((row) => [`${row.kind} ${row.id}`, JSON.stringify(ownerOf(row))]));
      const members = projects.map(
        ([id, count, added, ownedBy]) =>
          `{"id":${JSON.stringify(id)},"members":${count},"added":${added},"owners":[${ownedBy.map((key) => described.get(key)).join(',')}]}`,
      );
      return `{"projects":[${members.join(',')}]}`;
    },
    /** The number of SDK tokens by environment, of all or of those for a project. Tokens for hidden projects alone are not counted. */
    countEnvironmentTokens: (project: string | undefined, hiddenProjects: readonly string[]) =>
      database.read<{ name: string; tokens: number }>(tokenCountsByEnvironment, [project ?? null, hiddenProjects]),
  };
}
export type AccessReader = ReturnType<typeof accessReader>;
