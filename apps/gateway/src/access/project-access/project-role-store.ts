import type { EventContent } from '@bunting/contracts';
import type { RecordEvents } from '@bunting/outbox';
import { timestampSql, type Tx } from '@bunting/database';
import type { EntityName, InferEntity } from '@mikro-orm/postgresql';
import type { AssigneeType, ProjectRoles } from './project-roles.ts';
import { ProjectGroupEntity, ProjectUserEntity } from '../../unit-of-work/entities.ts';
import { userColumnsSql, type UserRow } from '../users/user-store.ts';

/** The roles of a user or a group in a project, and when the first of them was added. */
export interface RoleHolder {
  readonly id: number;
  readonly roles: readonly number[];
  readonly addedAt: string;
}

export interface ProjectRoleHolders {
  readonly users: readonly (RoleHolder & UserRow)[];
  readonly groups: readonly RoleHolder[];
}

const selectUsers = `
  select ${userColumnsSql}, assigned.roles, ${timestampSql('assigned.added_at')} as "addedAt"
  from (
    select user_id, array_agg(role_id order by role_id) as roles, min(added_at) as added_at
    from project_user where project = $1 group by user_id) as assigned
  join api_user u on u.id = assigned.user_id order by u.id`;

const selectGroups = `
  select group_id as id, array_agg(role_id order by role_id) as roles, ${timestampSql('min(added_at)')} as "addedAt"
  from project_group where project = $1 group by group_id order by group_id`;

async function holdersOf({ query }: Pick<Tx, 'query'>, project: string): Promise<ProjectRoleHolders> {
  return {
    users: await query<RoleHolder & UserRow>(selectUsers, [project]),
    groups: await query<RoleHolder>(selectGroups, [project]),
  };
}

type AssignedRow = Pick<InferEntity<typeof ProjectUserEntity>, 'project' | 'assignee' | 'role'>;
const entityOf = { user: ProjectUserEntity, group: ProjectGroupEntity } as unknown as Record<
  AssigneeType,
  EntityName<AssignedRow>
>;

/** Reads of the roles in projects without a lock: for responses, not for decisions. */
export function projectRoleReads({ query }: Pick<Tx, 'query'>) {
  return {
    list: (project: string) => holdersOf({ query }, project),
    /** The role ids of a user, through groups as well: those in the project, or the root roles. */
    listRolesOfUser: async (userId: number, project: string | undefined): Promise<number[]> => {
      const text =
        project === undefined
          ? `select root_role_id as id from api_user where id = $1
         union select root_role_id from user_group join group_member on id = group_id
         where user_id = $1 and root_role_id is not null order by id`
          : 'select distinct role_id as id from project_member where user_id = $1 and project = $2 order by id';
      const values = project === undefined ? [userId] : [userId, project];
      return (await query<{ id: number }>(text, values)).map(({ id }) => id);
    },
    listProjectsOfUser: async (userId: number): Promise<string[]> => {
      const text = 'select distinct project from project_member where user_id = $1 order by project';
      return (await query<{ project: string }>(text, [userId])).map(({ project }) => project);
    },
  };
}

interface AssignedRole {
  readonly assignee: number;
  readonly role: number;
}

type RolesByAssignee = ProjectRoles['users'];

/** The roles that assignees have in `minuend` and not in `subtrahend`. */
function difference(minuend: RolesByAssignee, subtrahend: RolesByAssignee): readonly AssignedRole[] {
  return [...minuend].flatMap(([assignee, roles]) =>
    roles.filter((role) => !(subtrahend.get(assignee) ?? []).includes(role)).map((role) => ({ assignee, role })),
  );
}

function rolesByAssignee(holders: readonly RoleHolder[]): RolesByAssignee {
  return new Map(holders.map(({ id, roles }) => [id, roles]));
}

export function projectRoleRepository(tx: Tx, record: RecordEvents) {
  const { query } = tx;
  return {
    ...projectRoleReads(tx),
    /** The roles in a project, locked until the transaction ends. */
    getForUpdate: async (project: string): Promise<ProjectRoles> => {
      await query('select pg_advisory_xact_lock(hashtext($1), hashtext($2))', ['project access', project]);
      const { users: userHolders, groups: groupHolders } = await holdersOf({ query }, project);
      return { users: rolesByAssignee(userHolders), groups: rolesByAssignee(groupHolders) };
    },
    /** Stores the roles in a project. @param before the stored roles, as `getForUpdate` returned them */
    save: async (
      project: string,
      before: ProjectRoles,
      after: ProjectRoles,
      events: readonly EventContent[],
    ): Promise<void> => {
      for (const type of ['user', 'group'] as const) {
        const [rolesBefore, rolesAfter] = [before[`${type}s`], after[`${type}s`]];
        const removed = difference(rolesBefore, rolesAfter);
        if (removed.length > 0) await tx.em.nativeDelete(entityOf[type], { project, $or: [...removed] });
        const added = difference(rolesAfter, rolesBefore).map((assigned) => ({ project, ...assigned }));
        if (added.length > 0) await tx.em.upsertMany(entityOf[type], added, { onConflictAction: 'ignore' });
      }
      record(events);
    },
  };
}
