import { type Permission, type Role, refusal } from '@bunting/contracts';
import { brokenConstraint, type Tx } from '@bunting/database';
import type { RoleRight, RoleWithRights, WantedRole } from '../domain/roles.ts';

interface RoleRow extends Role {
  readonly permissions: { name: Permission; environment: string | null; project: string | null }[];
}

/** Roles, predefined and made here. */
export interface RoleRepository {
  list(): Promise<Role[]>;
  /** A role as it is now: to be shown, not to decide by. */
  read(id: number): Promise<RoleWithRights | undefined>;
  /** A role that stays as it is until the end of this work. */
  find(id: number): Promise<RoleWithRights | undefined>;
  isTaken(name: string, exceptId?: number): Promise<boolean>;
  /** What the roles give, by their ids; roles that no project can give are left out. */
  ofProjects(ids: readonly number[]): Promise<ReadonlyMap<number, readonly RoleRight[]>>;
  /** The id of a role that holds everywhere, by its id or its name. */
  rootRole(idOrName: number | string): Promise<number | undefined>;
  /** Creates a role, or changes the one with the id. */
  save(role: WantedRole, id?: number): Promise<RoleWithRights>;
  /** Gives roles in one environment the permissions that they have in another. Gives those that change, before and after. */
  copyEnvironment(
    from: string,
    to: string,
  ): Promise<readonly { readonly before: RoleWithRights; readonly after: RoleWithRights }[]>;
  /** @throws Refusal `ConflictError` when somebody has it. */
  remove(id: number): Promise<void>;
}

const columns = 'id, name, description, type';
const withRights = `
  select ${columns}, coalesce((
    select json_agg(json_build_object('name', permission, 'environment', environment, 'project', project)
      order by permission, environment nulls first)
    from role_permission where role_id = role.id), '[]') as permissions
  from role where`;

const inUse = `
  select (select count(*) from api_user where root_role_id = $1 and deleted_at is null)
      + (select count(distinct user_id) from project_user where role_id = $1) as users,
    (select count(*) from user_group where root_role_id = $1)
      + (select count(distinct group_id) from project_group where role_id = $1) as groups`;

/** What an Editor may do in `default` is told with the rest: where it holds is for the project to say. */
const roleOf = ({ permissions, ...role }: RoleRow): RoleWithRights => ({
  ...role,
  permissions: permissions.map(({ name, environment }) => ({ name, ...(environment === null ? {} : { environment }) })),
});

export const roleRepository = ({ query }: Pick<Tx, 'query'>): RoleRepository => {
  const byId = async (locking: '' | 'for update', id: number): Promise<RoleWithRights | undefined> => {
    const [row] = await query<RoleRow>(`${withRights} id = $1 ${locking}`, [id]);
    return row === undefined ? undefined : roleOf(row);
  };
  const store = async ({ name, description, type }: WantedRole, id: number | undefined): Promise<number> => {
    try {
      const [row] = await (id === undefined
        ? query<{ id: number }>('insert into role (name, description, type) values ($1, $2, $3) returning id', [
            name,
            description,
            type,
          ])
        : query<{ id: number }>('update role set name = $2, description = $3 where id = $1 returning id', [
            id,
            name,
            description,
          ]));
      if (row === undefined) throw new Error('A role was not stored.');
      return row.id;
    } catch (error) {
      if (brokenConstraint(error) !== 'role_by_name') throw error;
      throw refusal('NameExistsError', `There already exists a role with the name ${name}`);
    }
  };

  return {
    list: () => query<Role>(`select ${columns} from role order by id`),
    read: (id) => byId('', id),
    find: (id) => byId('for update', id),
    isTaken: async (name, exceptId) => {
      const text = 'select id from role where lower(name) = lower($1)';
      return (await query<{ id: number }>(text, [name])).some(({ id }) => id !== exceptId);
    },
    ofProjects: async (ids) => {
      const text = `${withRights} id = any ($1::integer[]) and type in ('project', 'custom') order by id for share`;
      const rows = await query<RoleRow>(text, [ids]);
      return new Map(rows.map(({ id, permissions }) => [id, permissions]));
    },
    rootRole: async (idOrName) => {
      const text = `
        select id from role where type in ('root', 'root-custom') and (id::text = $1 or lower(name) = lower($1))
        order by id::text = $1 desc limit 1 for share`;
      return (await query<{ id: number }>(text, [String(idOrName)]))[0]?.id;
    },
    save: async (role, knownId) => {
      const id = await store(role, knownId);
      await query('delete from role_permission where role_id = $1', [id]);
      await query(
        `insert into role_permission (role_id, permission, environment)
         select $1, name, environment from json_to_recordset($2::json) as given (name text, environment text)`,
        [id, JSON.stringify(role.permissions)],
      );
      return (await byId('for update', id)) as RoleWithRights;
    },
    copyEnvironment: async (from, to) => {
      const concerned = `${withRights} id in (select role_id from role_permission where environment = $1) order by id`;
      const before = (await query<RoleRow>(`${concerned} for update`, [from])).map(roleOf);
      const copied = await query<{ id: number }>(
        `insert into role_permission (role_id, permission, project, environment)
         select role_id, permission, project, $2 from role_permission
         where environment = $1 and role_id = any ($3::integer[])
         on conflict do nothing returning role_id as id`,
        [from, to, before.map(({ id }) => id)],
      );
      const changed = new Set(copied.map(({ id }) => id));
      const after = new Map((await query<RoleRow>(concerned, [from])).map((row) => [row.id, roleOf(row)]));
      return before.flatMap((role) => {
        const now = after.get(role.id);
        return now !== undefined && changed.has(role.id) ? [{ before: role, after: now }] : [];
      });
    },
    remove: async (id) => {
      const [row] = await query<{ users: number; groups: number }>(inUse, [id]);
      const { users, groups } = row ?? { users: 0, groups: 0 };
      if (users + groups > 0) {
        throw refusal('ConflictError', `Role is in use by users(${users}) or groups(${groups}). You cannot delete it.`);
      }
      // Whoever was deleted may have had it.
      await query('update api_user set root_role_id = 3 where root_role_id = $1 and deleted_at is not null', [id]);
      await query('delete from role where id = $1', [id]);
    },
  };
};
