import { type Group, refusal } from '@bunting/contracts';
import { brokenConstraint, type Tx } from '@bunting/database';
import { momentOf, personColumns, type PersonRow, userOf } from './people.ts';

interface GroupRow {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  readonly mappings_sso: string[];
  readonly root_role_id: number | null;
  readonly created_by: string;
  readonly created_at: string;
  readonly projects: string[];
}

interface MemberRow extends PersonRow {
  readonly group_id: number;
  readonly joined_at: string;
  readonly added_by: string;
}

export interface WantedGroup {
  readonly name: string;
  readonly description: string | null;
  readonly mappingsSSO: readonly string[];
  readonly rootRole: number | null;
}

/** Users who have their rights together. */
export interface GroupRepository {
  /** Every group, or those of the ids, by their names. */
  list(ids?: readonly number[]): Promise<Group[]>;
  /** A group that stays as it is until the end of this work. */
  find(id: number): Promise<Group | undefined>;
  /** Creates a group, or changes the one with the id. */
  save(group: WantedGroup, by: string, id?: number): Promise<number>;
  setMembers(id: number, userIds: readonly number[], by: string): Promise<void>;
  remove(id: number): Promise<void>;
}

const groups = `
  select id, name, description, mappings_sso, root_role_id, created_by, created_at,
    array(select distinct project from project_group where group_id = g.id order by project) as projects
  from user_group g where $1::integer[] is null or id = any ($1::integer[]) order by lower(name), id`;

const members = `
  select m.group_id, m.joined_at, m.created_by as added_by, ${personColumns}
  from group_member m join api_user u on u.id = m.user_id
  where m.group_id = any ($1::integer[]) order by u.id`;

const setMembers = `
  with gone as (delete from group_member where group_id = $1 and user_id <> all ($2::integer[]))
  insert into group_member (group_id, user_id, created_by) select $1, unnest($2::integer[]), $3 on conflict do nothing`;

export const groupRepository = ({ query }: Pick<Tx, 'query'>): GroupRepository => {
  const list = async (ids?: readonly number[]): Promise<Group[]> => {
    const rows = await query<GroupRow>(groups, [ids ?? null]);
    const joined = await query<MemberRow>(members, [rows.map(({ id }) => id)]);
    return rows.map(({ id, name, description, mappings_sso, root_role_id, created_by, created_at, projects }) => {
      const users = joined
        .filter(({ group_id }) => group_id === id)
        .map((row) => ({ user: userOf(row), joinedAt: momentOf(row.joined_at), createdBy: row.added_by }));
      return {
        id,
        name,
        description,
        mappingsSSO: mappings_sso,
        rootRole: root_role_id,
        createdBy: created_by,
        createdAt: momentOf(created_at),
        users,
        projects,
        userCount: users.length,
      };
    });
  };

  return {
    list,
    find: async (id) => {
      const found = await query('select from user_group where id = $1 for update', [id]);
      return found.length === 0 ? undefined : (await list([id]))[0];
    },
    save: async ({ name, description, mappingsSSO, rootRole }, by, id) => {
      try {
        const [row] = await (id === undefined
          ? query<{ id: number }>(
              `insert into user_group (name, description, mappings_sso, root_role_id, created_by)
               values ($1, $2, $3::text[], $4, $5) returning id`,
              [name, description, mappingsSSO, rootRole, by],
            )
          : query<{ id: number }>(
              `update user_group set name = $2, description = $3, mappings_sso = $4::text[], root_role_id = $5
               where id = $1 returning id`,
              [id, name, description, mappingsSSO, rootRole],
            ));
        if (row === undefined) throw new Error('A group was not stored.');
        return row.id;
      } catch (error) {
        if (brokenConstraint(error) !== 'user_group_by_name') throw error;
        throw refusal('NameExistsError', `Group name already exists: ${name}`);
      }
    },
    setMembers: async (id, userIds, by) => void (await query(setMembers, [id, userIds, by])),
    remove: async (id) => void (await query('delete from user_group where id = $1', [id])),
  };
};
