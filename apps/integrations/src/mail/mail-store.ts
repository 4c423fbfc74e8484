import { mailByDefault, notificationDays } from '@bunting/contracts';
import { advisoryLock, type Database, isOverSql, onlyRow, prepared, type Tx } from '@bunting/database';
import { randomUUID } from 'node:crypto';
import type { Notice } from '../inbox/notification.ts';
import type { MailedNotice } from './message.ts';

/** A mail that this process sends until its lease ends. */
export interface ClaimedMail {
  /** what its Message-ID is made of */
  readonly id: string;
  /** what it is taken by: whoever has it no more changes nothing of the mail */
  readonly lease: string;
  readonly userId: number;
  readonly isDaily: boolean;
  /** how many attempts have failed */
  readonly attempts: number;
}

/** So many mails an hour come at once; what is more comes in the mail of the day. */
const maxAnHour = 30;
/** After so many days what was not mailed is news no more, as when mail was not set up for a while. */
const maxDays = 7;

const later = (ms: string) => `clock_timestamp() + make_interval(secs => ${ms}::float8 / 1000)`;
const nextHour = (hour: string) =>
  `(date_trunc('day', clock_timestamp() at time zone 'UTC' - make_interval(hours => ${hour}))
    + interval '1 day' + make_interval(hours => ${hour})) at time zone 'UTC'`;

const insertNotice = `
  insert into mail_notice (user_id, key, kind, change_request, happened_at, notice, is_daily, due_at)
  select id, $2, $3, $4, $5, $6, is_daily, case when is_daily then ${nextHour('$8::int')} else clock_timestamp() end
  from (
    select person.id, coalesce(p.mail, $7) = 'daily' or (
        select count(*) from mail_notice m
        where m.user_id = person.id and not m.is_daily and m.added_at > statement_timestamp() - interval '1 hour') >= ${maxAnHour} as is_daily
    from unnest($1::int[]) as person (id)
    left join notification_preference p on p.user_id = person.id and p.kind = $3
    where coalesce(p.mail, $7) <> 'never'
      -- What was asked later is there already, as when the log is read again.
      and not ($3 = 'review-requested' and exists (
        select from mail_notice m where m.user_id = person.id and m.kind = $3 and m.change_request = $4 and m.happened_at >= $5))) as chosen
  -- Of several events that are one thing to tell, the last one says what came of it.
  on conflict (user_id, key) do update set notice = excluded.notice, happened_at = excluded.happened_at
    where mail_notice.due_at is not null and mail_notice.happened_at <= excluded.happened_at`;

const dropAskedBefore = `
  delete from mail_notice
  where user_id = any ($1::int[]) and kind = 'review-requested' and change_request = $2 and happened_at < $3 and due_at is not null`;

/** Lets a notice be mailed to those who want so, in the transaction that tells them. @param hour of the mail of the day, in UTC */
export async function addToMail(tx: Tx, notice: Notice, hour: number): Promise<void> {
  const { userIds, key, kind, changeRequestId, createdAt, title, summary, comment, project, path } = notice;
  if (kind === 'review-requested') await tx.query(dropAskedBefore, [userIds, changeRequestId, createdAt]);
  const mailed: MailedNotice = { kind, title, summary, comment, project, path };
  await tx.query(insertNotice, [
    userIds,
    key,
    kind,
    changeRequestId,
    createdAt,
    JSON.stringify(mailed),
    mailByDefault[kind],
    hour,
  ]);
}

/** Leaves out of what waits a review that is not asked for any more, of one person or of all. */
export async function dropReview(tx: Tx, changeRequestId: number, userId: number | null, at: string): Promise<void> {
  await tx.query(
    `delete from mail_notice
     where kind = 'review-requested' and change_request = $1 and (due_at is not null or mail_id is not null)
       and happened_at <= $3 and ($2::int is null or user_id = $2)`,
    [changeRequestId, userId, at],
  );
}

/** Leaves out of what waits all of a kind, which its reader does not want any more. */
export async function dropKind(tx: Tx, userId: number, kind: string): Promise<void> {
  await tx.query(
    'delete from mail_notice where user_id = $1 and kind = $2 and (due_at is not null or mail_id is not null)',
    [userId, kind],
  );
}

export async function dropMailOf(tx: Tx, userIds: readonly number[]): Promise<void> {
  await tx.query('delete from mail where user_id = any ($1::int[])', [userIds]);
  await tx.query('delete from mail_notice where user_id = any ($1::int[])', [userIds]);
}

/** SQL: whether a notice is to be mailed now. */
const isDue = `((due_at is not null and not is_daily) or ${isOverSql('due_at', "interval '1 day'")})`;

/**
 * SQL: makes mails of what is due: one of each notice that is mailed at once, and one a person of those of a day. From then on a mail has what it
 * has, so that its repetition is the same mail.
 */
const composeMails = `
  with readers as materialized (
    select distinct user_id from (
      select user_id from mail_notice where ${isDue} order by due_at, user_id limit 1000) as oldest
  ), due as materialized (
    select id, user_id, key, is_daily from mail_notice
    where ${isDue} and user_id in (select user_id from readers) for update
  ), composed as materialized (
    select encode(sha256(convert_to(user_id || ' ' || string_agg(key, ' ' order by id), 'UTF8')), 'hex') as mail_id, user_id, is_daily,
      array_agg(id) as ids
    from due group by user_id, is_daily, case when not is_daily then id end
  ), stored as (
    insert into mail (id, user_id, is_daily) select mail_id, user_id, is_daily from composed on conflict (id) do nothing)
  update mail_notice n set mail_id = c.mail_id, due_at = null from composed c where n.id = any (c.ids) returning 1`;

const anyDue = prepared(`select 1 from mail_notice where ${isDue} limit 1`);

const dropExpired = prepared(`
  with mails as (delete from mail where created_at < statement_timestamp() - interval '${maxDays} days' returning 1),
    notices as (delete from mail_notice where due_at < statement_timestamp() - interval '${maxDays} days' returning 1)
  select (select count(*) from mails)::int + (select count(*) from notices)::int as expired`);

const claimMails = prepared(`
  update mail set next_attempt_at = ${later('$2')}, lease = $3
  where id in (
    select id from mail where ${isOverSql('next_attempt_at', `interval '${maxDays} days'`)}
    order by next_attempt_at limit $1 for update skip locked)
  returning id, lease, user_id as "userId", is_daily as "isDaily", attempts`);

/** SQL: what mails are about, without what their readers have seen in the inbox meanwhile. */
const noticesOfMails = prepared(`
  select mail_id as "mailId", notice from mail_notice m
  where mail_id = any ($1::text[]) and not exists (
    select from notification n where n.user_id = m.user_id and n.key = m.key and n.read_at is not null)
  order by m.id`);

/** The queue of mails, outside of the writes of users. */
export function mailStore({ read, query, transaction }: Pick<Database, 'read' | 'query' | 'transaction'>) {
  return {
    /** Makes mails of what is due, and forgets what nobody was mailed for a week. @returns how much of that */
    compose: async (): Promise<number> => {
      const { expired } = onlyRow(await query<{ expired: number }>(dropExpired));
      while ((await query(anyDue)).length > 0)
        await transaction(async (tx) => {
          // Another process that makes mails at the same time would make a second one of a day.
          await advisoryLock(tx, 'mails');
          await tx.query(composeMails);
        });
      return expired;
    },

    /** Takes mails that are due and that no process sends. */
    claim: (limit: number, leaseMs: number): Promise<ClaimedMail[]> =>
      query<ClaimedMail>(claimMails, [limit, leaseMs, randomUUID()]),

    /** What mails are about, by their ids. */
    noticesOf: async (ids: readonly string[]): Promise<ReadonlyMap<string, readonly MailedNotice[]>> => {
      const rows = await read<{ mailId: string; notice: MailedNotice }>(noticesOfMails, [ids]);
      const byMail = Map.groupBy(rows, ({ mailId }) => mailId);
      return new Map([...byMail].map(([id, ofMail]) => [id, ofMail.map(({ notice }) => notice)]));
    },

    /** Ends a mail: it is sent, or will not be. */
    end: async ({ id, lease }: ClaimedMail): Promise<void> => void (await query(prepared(endMail), [id, lease])),

    /** Notes that an attempt has failed, unless another process has taken the mail meanwhile. */
    retry: async ({ id, lease }: ClaimedMail, nextAttemptMs: number): Promise<void> => {
      const text = `update mail set attempts = attempts + 1, next_attempt_at = ${later('$3')}, lease = null where id = $1 and lease = $2`;
      await query(prepared(text), [id, lease, nextAttemptMs]);
    },

    /** Gives back mails that were taken and not tried. */
    release: async (mails: readonly ClaimedMail[]): Promise<void> => {
      const text = `
        update mail m set next_attempt_at = clock_timestamp(), lease = null
        from unnest($1::text[], $2::uuid[]) as taken (id, lease) where m.id = taken.id and m.lease = taken.lease`;
      await query(prepared(text), [mails.map(({ id }) => id), mails.map(({ lease }) => lease)]);
    },

    /** Makes due what has failed and no process sends, after the server works again. */
    retryAll: async (): Promise<void> => {
      await query(
        prepared(`
        update mail set next_attempt_at = clock_timestamp()
        where lease is null and attempts > 0 and next_attempt_at > clock_timestamp()`),
      );
    },

    /** How many mails wait, and for how many seconds the oldest has. */
    waiting: async (): Promise<{ readonly mails: number; readonly oldestSeconds: number }> =>
      onlyRow(
        await read<{ mails: number; oldestSeconds: number }>(
          prepared(`select count(*)::int as mails,
          coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8 as "oldestSeconds" from mail`),
        ),
      ),

    /** Forgets some of what was mailed long ago. @returns how many */
    dropOld: async (): Promise<number> =>
      (
        await query(
          prepared(`
          delete from mail_notice where id in (
            select id from (select id, added_at from mail_notice order by id limit 1000) as oldest
            where added_at < clock_timestamp() - interval '${notificationDays} days') returning 1`),
        )
      ).length,
  };
}
export type MailStore = ReturnType<typeof mailStore>;

const endMail = `
  with ended as (delete from mail where id = $1 and lease = $2 returning id)
  update mail_notice set mail_id = null where mail_id in (select id from ended)`;
