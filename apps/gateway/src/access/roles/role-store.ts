import type { EventContent } from '@bunting/contracts';
import type { RecordEvents } from '@bunting/outbox';
import { type Permission, refusal, type Role } from '@bunting/contracts';
import { onlyRow, type Tx, violatedConstraint } from '@bunting/database';
import type { EventsOf } from '../events.ts';
import { roleNameTaken, roleNotFound } from '../refusals.ts';
import { predefinedRole, type RoleGrant, type RoleInput, roleUpdated, type RoleWithGrants } from './role.ts';
import { gatewaySql, RoleEntity, RolePermissionEntity, UserEntity } from '../../unit-of-work/entities.ts';

interface RoleRow extends Role {
  readonly permissions: { name: Permission; environment: string | null; project: string | null }[];
}

const columns = gatewaySql.selectOf(RoleEntity, 'role');
const selectRoles = `
  select ${columns}, coalesce((
    select json_agg(json_build_object('name', permission, 'environment', environment, 'project', project)
      order by permission, environment nulls first)
    from role_permission where role_id = role.id), '[]') as permissions
  from role where`;

const countUsesSql = `
  select (select count(*) from api_user where root_role_id = $1 and deleted_at is null)
      + (select count(distinct user_id) from project_user where role_id = $1) as users,
    (select count(*) from user_group where root_role_id = $1)
      + (select count(distinct group_id) from project_group where role_id = $1) as groups,
    exists (select from gateway_setting where name = 'oidc' and value->>'defaultRootRoleId' = $1::text) as "isDefaultOfSignIns"`;

interface RoleUses {
  readonly users: number;
  readonly groups: number;
  /** whether users whom a sign-in with OpenID Connect creates get the role */
  readonly isDefaultOfSignIns: boolean;
}

/** Omits the projects of grants: the grants of the Editor in `default` are listed with its other grants, as Unleash does. */
function roleOf({ permissions, ...role }: RoleRow): RoleWithGrants {
  return {
    ...role,
    permissions: permissions.map(({ name, environment }) => ({
      name,
      ...(environment === null ? {} : { environment }),
    })),
  };
}

async function roleById(
  { query }: Pick<Tx, 'query'>,
  id: number,
  locking: '' | 'for update' = '',
): Promise<RoleWithGrants> {
  const [row] = await query<RoleRow>(`${selectRoles} id = $1 ${locking}`, [id]);
  if (row === undefined) throw roleNotFound();
  return roleOf(row);
}

const rolesInEnvironment = `${selectRoles} id in (select role_id from role_permission where environment = $1) order by id for update`;

/** Takes the permissions in an environment away from every role. @returns the events of the roles that change */
export async function removeEnvironmentFromRoles(
  { query }: Pick<Tx, 'query'>,
  environment: string,
): Promise<readonly EventContent[]> {
  const before = (await query<RoleRow>(rolesInEnvironment, [environment])).map(roleOf);
  if (before.length === 0) return [];
  await query('delete from role_permission where environment = $1', [environment]);
  return before.flatMap((role) => {
    const permissions = role.permissions.filter((grant) => grant.environment !== environment);
    return roleUpdated(role, { ...role, permissions });
  });
}

/** Reads of roles without a lock: for responses, not for decisions. */
export function roleReads(tx: Pick<Tx, 'query'>) {
  return {
    list: () => tx.query<Role>(`select ${columns} from role order by id`),
    /** @throws Refusal 404 when there is none */
    get: (id: number) => roleById(tx, id),
    isNameTaken: async (name: string, exceptId?: number): Promise<boolean> => {
      const text = 'select id from role where lower(name) = lower($1)';
      return (await tx.query<{ id: number }>(text, [name])).some(({ id }) => id !== exceptId);
    },
  };
}

export function roleRepository(tx: Tx, record: RecordEvents) {
  const { query } = tx;
  const storeContent = async ({ name, description, type }: RoleInput, id: number | undefined): Promise<number> => {
    const { em } = tx;
    try {
      const role =
        id === undefined
          ? em.create(RoleEntity, { name, description, type })
          : em.assign(await em.findOneOrFail(RoleEntity, { id }), { name, description });
      await em.flush();
      return role.id;
    } catch (error) {
      if (violatedConstraint(error) !== 'role_by_name') throw error;
      throw roleNameTaken(name);
    }
  };
  const store = async (
    role: RoleInput,
    knownId: number | undefined,
    eventsOf: EventsOf<RoleWithGrants>,
  ): Promise<RoleWithGrants> => {
    const id = await storeContent(role, knownId);
    await tx.em.nativeDelete(RolePermissionEntity, { role: id });
    const grants = role.permissions.map(({ name, environment }) => ({
      role: id,
      permission: name,
      project: null,
      environment: environment ?? null,
    }));
    if (grants.length > 0) await tx.em.insertMany(RolePermissionEntity, grants);
    const stored = await roleById(tx, id, 'for update');
    record(eventsOf(stored));
    return stored;
  };

  return {
    ...roleReads(tx),
    /** A role, locked until the transaction ends. @throws Refusal 404 when there is none */
    getForUpdate: (id: number) => roleById(tx, id, 'for update'),
    /** The grants of project roles, by role id; other roles are omitted. */
    findProjectGrants: async (ids: readonly number[]): Promise<ReadonlyMap<number, readonly RoleGrant[]>> => {
      const text = `${selectRoles} id = any ($1::integer[]) and type in ('project', 'custom') order by id for share`;
      const rows = await query<RoleRow>(text, [ids]);
      return new Map(rows.map(({ id, permissions }) => [id, permissions]));
    },
    /** The id of a root role, by its id or name; undefined when there is none. */
    findRootRole: async (idOrName: number | string): Promise<number | undefined> => {
      const text = `
        select id from role where type in ('root', 'root-custom') and (id::text = $1 or lower(name) = lower($1))
        order by id::text = $1 desc limit 1 for share`;
      return (await query<{ id: number }>(text, [String(idOrName)]))[0]?.id;
    },
    /** @throws Refusal `NameExistsError` */
    add: (role: RoleInput, eventsOf: EventsOf<RoleWithGrants>): Promise<RoleWithGrants> =>
      store(role, undefined, eventsOf),
    /** @throws Refusal `NameExistsError` */
    save: (id: number, role: RoleInput, eventsOf: EventsOf<RoleWithGrants>): Promise<RoleWithGrants> =>
      store(role, id, eventsOf),
    /** Copies the grants of all roles from one environment to another. @param eventsOf the events of one role that changes */
    copyEnvironment: async (
      from: string,
      to: string,
      eventsOf: (before: RoleWithGrants, after: RoleWithGrants) => readonly EventContent[],
    ): Promise<void> => {
      const selectConcerned = `${selectRoles} id in (select role_id from role_permission where environment = $1) order by id`;
      const before = (await query<RoleRow>(`${selectConcerned} for update`, [from])).map(roleOf);
      const copied = await query<{ id: number }>(
        `insert into role_permission (role_id, permission, project, environment)
         select role_id, permission, project, $2 from role_permission
         where environment = $1 and role_id = any ($3::integer[])
         on conflict do nothing returning role_id as id`,
        [from, to, before.map(({ id }) => id)],
      );
      const changed = new Set(copied.map(({ id }) => id));
      const after = new Map((await query<RoleRow>(selectConcerned, [from])).map((row) => [row.id, roleOf(row)]));
      for (const role of before) {
        const changedRole = changed.has(role.id) ? after.get(role.id) : undefined;
        if (changedRole !== undefined) record(eventsOf(role, changedRole));
      }
    },
    /** @throws Refusal `ConflictError` for a role that is in use */
    remove: async (id: number, events: readonly EventContent[]): Promise<void> => {
      const { users, groups, isDefaultOfSignIns } = onlyRow(await query<RoleUses>(countUsesSql, [id]), 'in-use');
      if (users + groups > 0) {
        throw refusal('ConflictError', `Role is in use by users(${users}) or groups(${groups}). You cannot delete it.`);
      }
      if (isDefaultOfSignIns)
        throw refusal(
          'ConflictError',
          'New users who sign in with OpenID Connect get this role. Choose another one there before you delete it.',
        );
      // The row of a deleted user may still refer to the role.
      await tx.em.nativeUpdate(
        UserEntity,
        { rootRole: id, deletedAt: { $ne: null } },
        { rootRole: predefinedRole.viewer },
      );
      await tx.em.nativeDelete(RoleEntity, { id });
      record(events);
    },
  };
}
