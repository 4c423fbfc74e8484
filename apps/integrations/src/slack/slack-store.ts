import { refusal } from '@bunting/contracts';
import { advisoryLock, type Database, isOverSql, onlyRow, prepared, type Tx } from '@bunting/database';
import type { Interaction } from './interaction.ts';

/** How many interactions an integration takes in a minute, and how many of them of one person. */
const maxPerMinute = 120;
const maxPerPersonAndMinute = 20;

/** Where a message is. */
interface MessagePlace {
  readonly channel: string;
  readonly ts: string;
}

/** A message about a change request. */
export interface SlackMessage extends MessagePlace {
  readonly note: string;
}

/** A message that was posted. */
export interface PostedMessage extends SlackMessage {
  /** when what the note says happened */
  readonly noteAt: string;
  readonly integrationId: number;
  readonly changeRequestId: number;
  readonly changeRequestUid: string | null;
  readonly eventUid: string;
  readonly requestedChannel: string;
}

/** An interaction that this process works on. */
export interface ClaimedInteraction {
  readonly id: number;
  readonly uid: string;
  readonly integrationId: number;
  readonly interaction: Interaction;
  readonly attempts: number;
  readonly ageMs: number;
}

const messagesOf = prepared(`select channel, ts, note, change_request_uid as "changeRequestUid" from slack_message
  where integration_id = $1 and change_request = $2 order by ts desc limit 20`);
const postedFor = prepared(
  'select requested_channel as channel from slack_message where integration_id = $1 and event_uid = $2',
);
const addMessage =
  prepared(`insert into slack_message (integration_id, channel, ts, change_request, change_request_uid, event_uid, requested_channel, note, note_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9::timestamptz) on conflict do nothing`);
/** An event that is delivered again says nothing newer. */
const noteMessages =
  prepared(`update slack_message set note = $3, note_at = $4::timestamptz, updated_at = clock_timestamp()
  where integration_id = $1 and change_request = $2 and note_at <= $4::timestamptz`);
const forgetMessage = prepared('delete from slack_message where integration_id = $1 and channel = $2 and ts = $3');
const appOf = prepared('select team_id as "teamId" from slack_app where integration_id = $1 and token_hash = $2');
const saveApp = prepared(`insert into slack_app (integration_id, token_hash, team_id)
  select id, $2, $3 from integration where id = $1
  on conflict (integration_id) do update set token_hash = excluded.token_hash, team_id = excluded.team_id`);
const claimDue = prepared(`
  update slack_interaction set attempts = attempts + 1,
    next_attempt_at = clock_timestamp() + make_interval(secs => $1::float8 / 1000)
  where id in (
    select id from slack_interaction where ${isOverSql('next_attempt_at', "interval '2 minutes'")}
    order by next_attempt_at limit $2 for update skip locked)
  returning id::float8 as id, uid, integration_id as "integrationId", interaction, attempts,
    (extract(epoch from clock_timestamp() - received_at) * 1000)::float8 as "ageMs"`);
const finish = prepared('update slack_interaction set next_attempt_at = null, interaction = null where id = $1');
const postpone =
  prepared(`update slack_interaction set next_attempt_at = clock_timestamp() + make_interval(secs => $2::float8 / 1000)
  where id = $1`);
/** Signatures are kept for longer than a request may be old. */
const dropOldInteractions = prepared(
  `delete from slack_interaction where received_at < clock_timestamp() - interval '1 hour'`,
);
const dropOldMessages = prepared(`delete from slack_message where updated_at < clock_timestamp() - interval '90 days'`);

/** Messages, workspaces and interactions, each write by itself. */
export function slackStore(database: Pick<Database, 'query' | 'read'>) {
  const { query } = database;
  return {
    /** the newest messages about a change request */
    messages: (integrationId: number, changeRequestId: number) =>
      query<SlackMessage & { readonly changeRequestUid: string | null }>(messagesOf, [integrationId, changeRequestId]),
    /** the channels to which an event was posted */
    channelsOf: async (integrationId: number, eventUid: string): Promise<readonly string[]> =>
      (await query<{ channel: string }>(postedFor, [integrationId, eventUid])).map(({ channel }) => channel),
    add: async (message: PostedMessage): Promise<void> => {
      const { integrationId, channel, ts, changeRequestId, changeRequestUid, eventUid, requestedChannel } = message;
      await query(addMessage, [
        integrationId,
        channel,
        ts,
        changeRequestId,
        changeRequestUid,
        eventUid,
        requestedChannel,
        message.note,
        message.noteAt,
      ]);
    },
    /** What the messages about a request say has happened last, unless they say something later. */
    note: async (
      integrationId: number,
      changeRequestId: number,
      { text, at }: { readonly text: string; readonly at: string },
    ): Promise<void> => void (await query(noteMessages, [integrationId, changeRequestId, text, at])),
    forget: async (integrationId: number, { channel, ts }: MessagePlace): Promise<void> =>
      void (await query(forgetMessage, [integrationId, channel, ts])),
    /** the workspace of a token; undefined while it is not known */
    findTeam: async (integrationId: number, tokenHash: Buffer): Promise<string | undefined> =>
      (await query<{ teamId: string }>(appOf, [integrationId, tokenHash]))[0]?.teamId,
    saveTeam: async (integrationId: number, tokenHash: Buffer, teamId: string): Promise<void> =>
      void (await query(saveApp, [integrationId, tokenHash, teamId])),
    claim: (leaseMs: number, limit: number) => query<ClaimedInteraction>(claimDue, [leaseMs, limit]),
    finish: async (id: number): Promise<void> => void (await query(finish, [id])),
    postpone: async (id: number, ms: number): Promise<void> => void (await query(postpone, [id, ms])),
    dropOld: async (): Promise<void> => {
      await query(dropOldInteractions);
      await query(dropOldMessages);
    },
  };
}
export type SlackStore = ReturnType<typeof slackStore>;

export function slackRepository(tx: Pick<Tx, 'query'>) {
  const { query } = tx;
  return {
    /**
     * Stores an interaction.
     * @throws Refusal `AuthenticationRequired` for one that was received before, `RateLimitError` beyond the limits
     */
    receive: async (integrationId: number, signature: string, interaction: Interaction): Promise<void> => {
      await advisoryLock({ query }, `slack ${integrationId}`);
      const { all, ofPerson } = onlyRow(
        await query<{ all: number; ofPerson: number }>(
          `select count(*)::int as all, (count(*) filter (where slack_user = $2))::int as "ofPerson" from slack_interaction
           where integration_id = $1 and received_at > clock_timestamp() - interval '1 minute'`,
          [integrationId, interaction.slackUserId],
        ),
      );
      const limit =
        ofPerson >= maxPerPersonAndMinute
          ? `${maxPerPersonAndMinute} interactions of a person`
          : all >= maxPerMinute
            ? `${maxPerMinute} interactions`
            : undefined;
      if (limit !== undefined)
        throw refusal('RateLimitError', `An integration takes ${limit} a minute.`, { retryAfterSeconds: 60 });
      const stored = await query(
        `insert into slack_interaction (integration_id, signature, slack_user, interaction) values ($1, $2, $3, $4)
         on conflict do nothing returning id`,
        [integrationId, signature, interaction.slackUserId, JSON.stringify(interaction)],
      );
      if (stored.length === 0) throw refusal('AuthenticationRequired', 'The request was received before.');
    },
  };
}
export type SlackRepository = ReturnType<typeof slackRepository>;
