import {
  mailByDefault,
  type MailMode,
  maxNotifications,
  notificationDays,
  type NotificationKind,
  notificationKinds,
  type NotificationPreferences,
  notFound,
} from '@bunting/contracts';
import { type Database, onlyRow, prepared, type ReadDatabase, timestampSql, type Tx } from '@bunting/database';
import { markBeginning } from '../delivery/log-mark-store.ts';
import type { LogPosition } from '../delivery/log-position.ts';
import { addToMail, dropKind, dropMailOf, dropReview } from '../mail/mail-store.ts';
import type { DeletedProject, Notice, SettledReview } from './notification.ts';

/** The inbox of a person, and what is left out of it: the projects that the person may not see. */
export interface InboxOf {
  readonly userId: number;
  readonly hiddenProjects: readonly string[];
}

type Preference = NotificationPreferences['kinds'][number];

export interface InboxFilter {
  readonly unread: boolean;
  readonly kind: NotificationKind | null;
  readonly before: number | null;
  readonly limit: number;
}

/** A person is reminded of the ends of tokens within days: these notices are kept for as long, also beyond the limit. */
const tokenNoticeDays = 10;

const visible = 'user_id = $1 and (project is null or project <> all ($2::text[]))';

const unreadOf = prepared(`select count(*)::int as unread from notification where ${visible} and read_at is null`);

const pageOf = prepared(`
  with matching as materialized (
    select * from notification where ${visible} and (not $3 or read_at is null) and ($4::text is null or kind = $4))
  select json_build_object(
    'total', (select count(*) from matching),
    'unread', (select count(*) from notification where ${visible} and read_at is null),
    'notifications', coalesce((
      select json_agg(json_build_object('id', id, 'kind', kind,
        'createdAt', ${timestampSql('happened_at')}, 'isRead', read_at is not null,
        'createdBy', created_by, 'createdByUserId', created_by_id, 'title', title, 'summary', summary, 'comment', comment, 'project', project,
        'environment', environment, 'featureName', feature, 'changeRequestId', change_request, 'path', path) order by id desc)
      from (select * from matching where $5::bigint is null or id < $5 order by id desc limit $6) as page), '[]'))::text as json`);

const preferencesOf = prepared(`
  select known.kind, coalesce(inbox, true) as inbox, coalesce(p.mail, known.mail) as mail
  from unnest($2::text[], $3::text[]) with ordinality as known (kind, mail, nth)
  left join notification_preference p on p.kind = known.kind and p.user_id = $1 order by nth`);

const defaults = [notificationKinds, notificationKinds.map((kind) => mailByDefault[kind])];

const dropOld = prepared(`
  delete from notification where id in (
    select id from (select id, added_at from notification order by id limit 1000) as oldest
    where added_at < clock_timestamp() - interval '${notificationDays} days') returning 1`);

const beginAt = 'insert into inbox_position (position, hash) values ($1, $2) on conflict do nothing';

const insertNotice = `
  insert into notification (user_id, key, kind, happened_at, created_by, title, summary, comment, project, environment, feature,
    change_request, path, created_by_id)
  select person.id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
  from unnest($1::int[]) as person (id)
  left join notification_preference p on p.user_id = person.id and p.kind = $3
  where coalesce(p.inbox, true)
    -- What was asked later is there already, as when the log is read again.
    and not ($3 = 'review-requested' and exists (
      select from notification n where n.user_id = person.id and n.kind = $3 and n.change_request = $12 and n.happened_at >= $4))
  -- Of several events that are one thing to tell, the last one says what came of it.
  on conflict (user_id, key) do update
    set summary = excluded.summary, environment = excluded.environment, happened_at = excluded.happened_at
    where notification.happened_at <= excluded.happened_at`;

/** A review that is asked for again comes first, and counts once. */
const dropAskedBefore = `
  delete from notification n
  where n.user_id = any ($1::int[]) and n.kind = 'review-requested' and n.change_request = $2 and n.read_at is null and n.happened_at < $3
    and not exists (select from notification_preference p where p.user_id = n.user_id and p.kind = n.kind and not p.inbox)`;

const settleReview = `
  update notification set read_at = clock_timestamp()
  where kind = 'review-requested' and change_request = $1 and read_at is null and happened_at <= $3 and ($2::int is null or user_id = $2)`;

const dropBeyondLimit = `
  delete from notification using unnest($1::int[]) as person (id) cross join lateral (
    select n.id from notification n where n.user_id = person.id
    -- A storm of changed flags takes no place from what waits for its reader.
    order by (n.read_at is null and n.kind <> 'flag-changed') desc, n.id desc offset ${maxNotifications}) as old
  where notification.id = old.id
    and (kind <> 'token-expiring' or added_at < clock_timestamp() - interval '${tokenNoticeDays} days')`;

/** Mail, where it is set up. */
export interface Mailing {
  /** of the mail of the day, in UTC */
  readonly hour: number;
}

/** Tells people, each once, and keeps the newest of each person. */
async function tell(tx: Tx, notices: readonly Notice[], mailing: Mailing | undefined): Promise<void> {
  for (const notice of notices) {
    if (notice.kind === 'review-requested')
      await tx.query(dropAskedBefore, [notice.userIds, notice.changeRequestId, notice.createdAt]);
    await tx.query(insertNotice, [
      notice.userIds,
      notice.key,
      notice.kind,
      notice.createdAt,
      notice.createdBy,
      notice.title,
      notice.summary,
      notice.comment,
      notice.project,
      notice.environment,
      notice.featureName,
      notice.changeRequestId,
      notice.path,
      notice.createdByUserId,
    ]);
    if (mailing !== undefined) await addToMail(tx, notice, mailing.hour);
  }
  if (notices.length > 0) await tx.query(dropBeyondLimit, [[...new Set(notices.flatMap(({ userIds }) => userIds))]]);
}

/** How far the inbox is in the log, and how many restores of the log were noticed before. */
export interface InboxPosition extends LogPosition {
  readonly generation: number;
}

/** Moves the position up to which people are told. @returns false if another process has moved it, or the log was restored */
async function move(tx: Tx, from: InboxPosition, to: LogPosition): Promise<boolean> {
  const isCurrent = 'select 1 from log_generation where generation = $1 for share';
  if ((await tx.query(isCurrent, [from.generation])).length === 0) return false;
  const text = `update inbox_position set position = $3, hash = $4 where position = $1 and hash is not distinct from $2 returning 1`;
  return (await tx.query(text, [from.position, from.hash, to.position, to.hash])).length > 0;
}

/** What comes of a page of events. */
interface ToldOfPage {
  readonly notices: readonly Notice[];
  readonly settled: readonly SettledReview[];
  readonly deletedUsers: readonly number[];
  readonly deletedProjects: readonly DeletedProject[];
}

/** Stores what people are told, outside of the writes of users. Nothing is mailed without `mailing`. */
export function inboxStore(database: Database, mailing?: Mailing) {
  const { read, query } = database;
  return {
    /** The position in the log up to which people are told; undefined before the first one. */
    position: async (): Promise<InboxPosition | undefined> => {
      const text = 'select position, hash, generation from inbox_position cross join log_generation';
      return (await read<InboxPosition>(prepared(text)))[0];
    },

    /** Begins with the events after a position, unless another process has begun. */
    begin: (from: LogPosition): Promise<void> =>
      database.transaction(async (tx) => {
        await markBeginning(tx, from);
        await tx.query(beginAt, [from.position, from.hash]);
      }),

    /**
     * Stores, in one transaction, what people are told of the events up to a position, and that they are.
     * @returns false, with nothing stored, if another process was faster
     */
    commit: (
      from: InboxPosition,
      to: LogPosition,
      { notices, settled, deletedUsers, deletedProjects }: ToldOfPage,
    ): Promise<boolean> =>
      database.transaction(async (tx) => {
        if (!(await move(tx, from, to))) return false;
        await tell(tx, notices, mailing);
        for (const { changeRequestId, userId, at } of settled) {
          await tx.query(settleReview, [changeRequestId, userId, at]);
          await dropReview(tx, changeRequestId, userId, at);
        }
        if (deletedUsers.length > 0) {
          await tx.query('delete from notification where user_id = any ($1::int[])', [deletedUsers]);
          await tx.query('delete from notification_preference where user_id = any ($1::int[])', [deletedUsers]);
          await dropMailOf(tx, deletedUsers);
        }
        // A later project of the same id has sets of its own, also when the log is read again.
        for (const { id, at } of deletedProjects)
          await tx.query('delete from action_set where project = $1 and created_at < $2', [id, at]);
        return true;
      }),

    /** Tells people of what is no event. */
    tell: (notices: readonly Notice[]): Promise<void> => database.transaction((tx) => tell(tx, notices, mailing)),

    /** Deletes some notifications that are too old. @returns how many */
    dropOld: async (): Promise<number> => (await query(dropOld)).length,
  };
}
export type InboxStore = ReturnType<typeof inboxStore>;

/** Reads the inbox of a person. */
export function inboxReader({ read }: ReadDatabase) {
  return {
    page: async ({ userId, hiddenProjects }: InboxOf, { unread, kind, before, limit }: InboxFilter): Promise<string> =>
      onlyRow(await read<{ json: string }>(pageOf, [userId, hiddenProjects, unread, kind, before, limit])).json,
    countUnread: async ({ userId, hiddenProjects }: InboxOf): Promise<{ unread: number }> =>
      onlyRow(await read<{ unread: number }>(unreadOf, [userId, hiddenProjects])),
    preferences: (userId: number): Promise<Preference[]> => read<Preference>(preferencesOf, [userId, ...defaults]),
  };
}
export type InboxReader = ReturnType<typeof inboxReader>;

/** Changes the inbox of a person, in that person's writes. */
export function inboxRepository(tx: Tx) {
  return {
    /** @throws Refusal `NotFoundError` */
    mark: async ({ userId, hiddenProjects }: InboxOf, id: number, isRead: boolean): Promise<void> => {
      const marked = await tx.query(
        `update notification set read_at = case when $4 then coalesce(read_at, clock_timestamp()) end
         where ${visible} and id = $3 returning 1`,
        [userId, hiddenProjects, id, isRead],
      );
      if (marked.length === 0) throw notFound(`Could not find a notification with id ${id} of yours`);
    },
    markAllRead: async ({ userId, hiddenProjects }: InboxOf, upTo: number, kind: NotificationKind | null) => {
      await tx.query(
        `update notification set read_at = clock_timestamp()
         where ${visible} and id <= $3 and read_at is null and ($4::text is null or kind = $4)`,
        [userId, hiddenProjects, upTo, kind],
      );
    },
    /** The kinds of which something came, or comes, in the mail of the day: those of a storm as well. */
    kindsInDailyMail: async (userId: number): Promise<ReadonlySet<string>> => {
      const rows = await tx.query<{ kind: string }>(
        'select distinct kind from mail_notice where user_id = $1 and is_daily',
        [userId],
      );
      return new Set(rows.map(({ kind }) => kind));
    },
    preferences: (userId: number): Promise<Preference[]> =>
      tx.query<Preference>(preferencesOf.text, [userId, ...defaults]),
    prefer: async (
      userId: number,
      kind: NotificationKind,
      { inbox = null, mail = null }: { readonly inbox?: boolean | null; readonly mail?: MailMode | null },
    ): Promise<void> => {
      await tx.query(
        `insert into notification_preference as p (user_id, kind, inbox, mail) values ($1, $2, coalesce($3, true), $4)
         on conflict (user_id, kind) do update set inbox = coalesce($3, p.inbox), mail = coalesce($4, p.mail)`,
        [userId, kind, inbox, mail],
      );
      if (mail === 'never') await dropKind(tx, userId, kind);
    },
  };
}
export type InboxRepository = ReturnType<typeof inboxRepository>;
