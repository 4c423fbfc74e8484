import type { Tx } from '@bunting/database';
import { predefinedRole } from '../domain/access.ts';
import { personColumns, type PersonRow } from './people.ts';

/** A user or a group, which has roles in projects. */
export type Holder = 'user' | 'group';

/** Which roles somebody has in a project, and since when the first of them. */
export interface Held {
  readonly id: number;
  readonly roles: readonly number[];
  readonly added_at: string;
}

export interface RoleHolders {
  readonly users: readonly (Held & PersonRow)[];
  readonly groups: readonly Held[];
}

/** Who has which role in a project. */
export interface ProjectAccessRepository {
  /** Who has roles there now: to be shown, not to decide by. */
  read(project: string): Promise<RoleHolders>;
  /** Who has roles there; nobody else changes them until the end of this work. */
  of(project: string): Promise<RoleHolders>;
  /** Replaces the roles of somebody there. */
  set(holder: Holder, project: string, id: number, roles: readonly number[]): Promise<void>;
  add(holder: Holder, project: string, ids: readonly number[], roles: readonly number[]): Promise<void>;
  /** Takes all roles there from whoever is not named. */
  keepOnly(holder: Holder, project: string, ids: readonly number[]): Promise<void>;
  hasOwner(project: string): Promise<boolean>;
  /** The roles of a user: those in the project, through groups as well; or everywhere. */
  rolesOfUser(userId: number, project: string | undefined): Promise<number[]>;
  /** The projects that a user has a role in. */
  projectsOfUser(userId: number): Promise<string[]>;
}

const users = `
  select ${personColumns}, held.roles, held.added_at
  from (
    select user_id, array_agg(role_id order by role_id) as roles, min(added_at) as added_at
    from project_user where project = $1 group by user_id) as held
  join api_user u on u.id = held.user_id order by u.id`;

const groups = `
  select group_id as id, array_agg(role_id order by role_id) as roles, min(added_at) as added_at
  from project_group where project = $1 group by group_id order by group_id`;

const holdersOf = async ({ query }: Pick<Tx, 'query'>, project: string): Promise<RoleHolders> => ({
  users: await query<Held & PersonRow>(users, [project]),
  groups: await query<Held>(groups, [project]),
});

export const projectAccessRepository = ({ query }: Pick<Tx, 'query'>): ProjectAccessRepository => ({
  read: (project) => holdersOf({ query }, project),
  of: async (project) => {
    await query('select pg_advisory_xact_lock(hashtext($1), hashtext($2))', ['project access', project]);
    return holdersOf({ query }, project);
  },
  set: async (holder, project, id, roles) => {
    const table = `project_${holder}`;
    await query(
      `with gone as (delete from ${table} where project = $1 and ${holder}_id = $2 and role_id <> all ($3::integer[]))
       insert into ${table} (project, ${holder}_id, role_id) select $1, $2, unnest($3::integer[]) on conflict do nothing`,
      [project, id, roles],
    );
  },
  add: async (holder, project, ids, roles) => {
    await query(
      `insert into project_${holder} (project, ${holder}_id, role_id)
       select $1, id, role from unnest($2::integer[]) as id, unnest($3::integer[]) as role on conflict do nothing`,
      [project, ids, roles],
    );
  },
  keepOnly: async (holder, project, ids) => {
    await query(`delete from project_${holder} where project = $1 and ${holder}_id <> all ($2::integer[])`, [
      project,
      ids,
    ]);
  },
  hasOwner: async (project) => {
    const text = `
      select from project_user where project = $1 and role_id = $2
      union all select from project_group where project = $1 and role_id = $2 limit 1`;
    return (await query(text, [project, predefinedRole.owner])).length > 0;
  },
  rolesOfUser: async (userId, project) => {
    const text =
      project === undefined
        ? `select root_role_id as id from api_user where id = $1
           union select root_role_id from user_group join group_member on id = group_id
           where user_id = $1 and root_role_id is not null order by id`
        : 'select distinct role_id as id from project_member where user_id = $1 and project = $2 order by id';
    const values = project === undefined ? [userId] : [userId, project];
    return (await query<{ id: number }>(text, values)).map(({ id }) => id);
  },
  projectsOfUser: async (userId) => {
    const text = 'select distinct project from project_member where user_id = $1 order by project';
    return (await query<{ project: string }>(text, [userId])).map(({ project }) => project);
  },
});
