import type { EventContent } from '@bunting/contracts';
import type { RecordEvents } from '@bunting/outbox';
import type { InviteLink, User } from '@bunting/contracts';
import { onlyRow, type Tx } from '@bunting/database';
import { randomUUID } from 'node:crypto';
import type { EventsOf } from '../events.ts';
import { type UserRow, userColumnsSql, userOf } from '../users/user-store.ts';
import { gatewaySql, InviteLinkEntity } from '../../unit-of-work/entities.ts';

/** What else than an account and its root role an invitation gives. */
export interface InvitedAccess {
  /** ids */
  readonly groups: readonly number[];
  readonly projects: readonly { readonly id: string; readonly role: number }[];
}

type Row = Pick<InviteLink, 'name' | 'enabled' | 'expiresAt' | 'createdAt' | 'createdBy' | 'groups' | 'projects'> & {
  readonly id: string;
  readonly rootRole: number;
  readonly createdById: number | null;
};

/** An invitation link as it is stored: without its secret, which is computed from its id. */
export type StoredInviteLink = Omit<InviteLink, 'secret' | 'url' | 'role'> &
  Pick<Row, 'id' | 'rootRole' | 'createdById'>;

const columns = `${gatewaySql.selectOf(InviteLinkEntity, 'l')},
  coalesce((select json_agg(json_build_object('id', g.id, 'name', g.name) order by lower(g.name))
    from invite_group i join user_group g on g.id = i.group_id where i.link_id = l.id), '[]') as groups,
  coalesce((select json_agg(json_build_object('id', i.project, 'role', json_build_object('id', r.id, 'name', r.name)) order by i.project, r.id)
    from invite_project i join role r on r.id = i.role_id where i.link_id = l.id), '[]') as projects`;

function withUsersOf({ query }: Pick<Tx, 'query'>) {
  return async (rows: readonly Row[]): Promise<StoredInviteLink[]> => {
    const invited = await query<UserRow & { readonly link: string }>(
      `select ${userColumnsSql}, i.link_id as link from invited_user i join api_user u on u.id = i.user_id
       where i.link_id = any ($1::uuid[]) and u.deleted_at is null order by u.id`,
      [rows.map(({ id }) => id)],
    );
    const users = new Map<string, User[]>();
    for (const { link, ...row } of invited) users.set(link, [...(users.get(link) ?? []), userOf(row)]);
    return rows.map((row) => ({ ...row, users: users.get(row.id) ?? [] }));
  };
}

/** Reads of invitation links without a lock: for responses, not for decisions. */
export function inviteLinkReads({ query }: Pick<Tx, 'query'>) {
  const withUsers = withUsersOf({ query });
  return {
    list: async (): Promise<StoredInviteLink[]> =>
      withUsers(await query<Row>(`select ${columns} from invite_link l order by created_at, id`)),
    /** A link; undefined when there is none, and for an undefined id. */
    find: async (id: string | undefined): Promise<StoredInviteLink | undefined> => {
      if (id === undefined) return undefined;
      return (await withUsers(await query<Row>(`select ${columns} from invite_link l where id = $1`, [id])))[0];
    },
  };
}

/** Links by which users create their own accounts. */
export function inviteLinkRepository({ query }: Pick<Tx, 'query'>, record: RecordEvents) {
  const withUsers = withUsersOf({ query });
  return {
    /** A link, locked until the transaction ends; undefined when there is none, and for an undefined id. */
    findForUpdate: async (id: string | undefined): Promise<StoredInviteLink | undefined> => {
      if (id === undefined) return undefined;
      const rows = await query<Row>(`select ${columns} from invite_link l where id = $1 for update`, [id]);
      return (await withUsers(rows))[0];
    },
    add: async (
      {
        name,
        expiresAt,
        createdBy,
        createdById,
        rootRole,
        groups,
        projects,
      }: Pick<Row, 'name' | 'expiresAt' | 'createdBy' | 'createdById' | 'rootRole'> & InvitedAccess,
      eventsOf: EventsOf<StoredInviteLink>,
    ): Promise<StoredInviteLink> => {
      const id = randomUUID();
      await query(
        `insert into invite_link (id, name, expires_at, created_by, root_role_id, created_by_id) values ($1, $2, $3, $4, $5, $6)`,
        [id, name, expiresAt, createdBy, rootRole, createdById],
      );
      await query('insert into invite_group (link_id, group_id) select distinct $1::uuid, unnest($2::integer[])', [
        id,
        groups,
      ]);
      await query(
        `insert into invite_project (link_id, project, role_id)
         select distinct $1::uuid, row.id, row.role from json_to_recordset($2) as row (id text, role integer)`,
        [id, JSON.stringify(projects)],
      );
      const added = await withUsers(await query<Row>(`select ${columns} from invite_link l where id = $1`, [id]));
      const stored = onlyRow(added, 'add-invite-link');
      record(eventsOf(stored));
      return stored;
    },
    save: async (
      id: string,
      { enabled, expiresAt }: Pick<Row, 'enabled' | 'expiresAt'>,
      eventsOf: EventsOf<StoredInviteLink>,
    ): Promise<StoredInviteLink> => {
      const text = `update invite_link as l set enabled = $2, expires_at = $3 where id = $1 returning ${columns}`;
      const stored = onlyRow(await withUsers(await query<Row>(text, [id, enabled, expiresAt])), 'save-invite-link');
      record(eventsOf(stored));
      return stored;
    },
    /** What a link gives besides, of what still exists: its projects are not deleted until the transaction ends. */
    accessForUpdate: async (id: string): Promise<InvitedAccess> => {
      const groups = await query<{ id: number }>(
        'select group_id as id from invite_group where link_id = $1 order by group_id',
        [id],
      );
      const projects = await query<InvitedAccess['projects'][number]>(
        `select p.id, i.role_id as role from invite_project i join project p on p.id = i.project
         where i.link_id = $1 and p.deleted_at is null order by p.id, i.role_id for key share of p`,
        [id],
      );
      return { groups: groups.map((group) => group.id), projects };
    },
    /** Stores that a user signed up by a link. */
    addUser: async (id: string, userId: number, events: readonly EventContent[]): Promise<void> => {
      await query('insert into invited_user (user_id, link_id) values ($1, $2)', [userId, id]);
      record(events);
    },
  };
}
