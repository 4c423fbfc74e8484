import type { EventContent } from '@bunting/contracts';
import type { RecordEvents } from '@bunting/outbox';
import type { InviteLink, User } from '@bunting/contracts';
import { onlyRow, type Tx } from '@bunting/database';
import { randomUUID } from 'node:crypto';
import type { EventsOf } from '../events.ts';
import { type UserRow, userColumnsSql, userOf } from '../users/user-store.ts';
import { gatewaySql, InviteLinkEntity } from '../../unit-of-work/entities.ts';

type Row = Pick<InviteLink, 'name' | 'enabled' | 'expiresAt' | 'createdAt' | 'createdBy'> & {
  readonly id: string;
  readonly rootRole: number;
};

/** An invitation link as it is stored: without its secret, which is computed from its id. */
export type StoredInviteLink = Omit<InviteLink, 'secret' | 'url' | 'role'> & Pick<Row, 'id' | 'rootRole'>;

const columns = gatewaySql.selectOf(InviteLinkEntity, 'l');

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
      { name, expiresAt, createdBy, rootRole }: Pick<Row, 'name' | 'expiresAt' | 'createdBy' | 'rootRole'>,
      eventsOf: EventsOf<StoredInviteLink>,
    ): Promise<StoredInviteLink> => {
      const text = `
        insert into invite_link as l (id, name, expires_at, created_by, root_role_id) values ($1, $2, $3, $4, $5) returning ${columns}`;
      const added = await withUsers(await query<Row>(text, [randomUUID(), name, expiresAt, createdBy, rootRole]));
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
    /** Stores that a user signed up by a link. */
    addUser: async (id: string, userId: number, events: readonly EventContent[]): Promise<void> => {
      await query('insert into invited_user (user_id, link_id) values ($1, $2)', [userId, id]);
      record(events);
    },
  };
}
