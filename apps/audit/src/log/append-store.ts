import { hash } from 'node:crypto';
import type { OutboxEvent } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { searchableTexts } from '../search/event-filters.ts';
import { recordActivitySql } from '../statistics/statistics-store.ts';
import { type ChainedEvent, hashInput } from './chained-event.ts';
import { ensurePartitions } from './retention-store.ts';
import {
  type DigestedTexts,
  insertTextsSql,
  newTextValues,
  type RememberedTexts,
  rememberedTexts,
  resolveTexts,
  withDigests,
} from './text-store.ts';

/** An event of the chain, with the hash that is stored with it, in hex. */
export interface HashedEvent extends ChainedEvent {
  readonly hash: string;
}

/** The hash of an event that follows the event with the hash `before`. */
export function eventHash(before: string, event: ChainedEvent): string {
  return hash('sha256', hashInput(before, event), 'hex');
}

/** The columns of `event` as the chain reads them. JSON columns are read as the stored text. */
export const chainColumns = `
  id, uid, type, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "createdAt",
  created_by as "createdBy", created_by_user_id as "createdByUserId", project, environment,
  feature_name as "featureName", data::text as data, pre_data::text as "preData", tags::text as tags,
  group_type as "groupType", group_id as "groupId",
  encode(hash, 'hex') as hash`;

/** The error of a log without the row that names its last event. */
export function missingLogHeadError(): Error {
  return new Error(
    'The table event_log_head is empty: the event log was not migrated, or its row was deleted. Restore it from a backup.',
  );
}

/** The head of the log: its last event. */
export interface LogHead {
  readonly id: number;
  /** the hash of the last event, in hex */
  readonly hash: string;
  /** the last event that was dropped for its age */
  readonly droppedId: number;
  /** the first id for which there is no partition yet */
  readonly partitionedTo: number;
  /** the same for the partitions of texts */
  readonly textsPartitionedTo: number;
  /** the number of texts that were ever stored, which is the id of the last one */
  readonly texts: number;
}

/** Locks the head of the log until the transaction ends. Other appenders wait. */
export async function lockEventLogHead({ query }: Tx): Promise<LogHead> {
  const [head] = await query<LogHead>(
    `select id, encode(hash, 'hex') as hash, dropped_id as "droppedId", partitioned_to as "partitionedTo",
       texts_partitioned_to as "textsPartitionedTo", texts
     from event_log_head for update`,
  );
  if (head === undefined) throw missingLogHeadError();
  return head;
}

/** An event in its stored form, without the id and the hash that its position in the log determines, and its texts that searches match. */
export interface PreparedEvent extends Omit<ChainedEvent, 'id'> {
  readonly texts: DigestedTexts;
}

const selectStoredUids = 'select uid from event where uid = any($1::uuid[])';

interface EventToInsert extends HashedEvent {
  readonly creatorText: number | null;
  readonly constantText: number | null;
  readonly varyingText: number | null;
}

/** SQL types of the members. Each member is sent as an array, because PostgreSQL parses arrays in far less time than JSON. */
const columnTypes: Readonly<Record<keyof EventToInsert, string>> = {
  id: 'bigint',
  uid: 'uuid',
  type: 'text',
  createdAt: 'timestamptz',
  createdBy: 'text',
  createdByUserId: 'bigint',
  project: 'text',
  environment: 'text',
  featureName: 'text',
  data: 'json',
  preData: 'json',
  tags: 'json',
  groupType: 'text',
  groupId: 'text',
  hash: 'text',
  creatorText: 'bigint',
  constantText: 'bigint',
  varyingText: 'bigint',
};
const members = Object.keys(columnTypes) as (keyof EventToInsert)[];

/** Long members, which never contain the separators below. Each is sent as one joined text, so its values need no escaping as elements. */
const joinedMembers: readonly (keyof EventToInsert)[] = ['data', 'preData', 'tags'];
const elementSeparator = '\u001c';
const nullElement = '\u001d';

/** SQL: the array of a member's values, from the parameter with this number. */
function listExpression(member: keyof EventToInsert, parameter: number): string {
  const type = `${columnTypes[member]}[]`;
  return joinedMembers.includes(member)
    ? String.raw`string_to_array($${parameter}, E'\x1c', E'\x1d')::${type}`
    : `$${parameter}::${type}`;
}

/** The parameter that `listExpression` reads. */
function listValue(member: keyof EventToInsert, rows: readonly EventToInsert[]): unknown {
  return joinedMembers.includes(member)
    ? rows.map((row) => row[member] ?? nullElement).join(elementSeparator)
    : rows.map((row) => row[member]);
}

const insertEvents = `
  with arrived as (
    select * from unnest(${members.map((member, nth) => listExpression(member, nth + 11)).join(', ')})
      as row (${members.map((member) => `"${member}"`).join(', ')})
  ), logged as (
    insert into event (id, uid, type, created_at, created_by, created_by_user_id,
                       project, environment, feature_name, data, pre_data, tags, group_type, group_id, hash)
    select id, uid, type, "createdAt", "createdBy", "createdByUserId",
           project, environment, "featureName", data, "preData", tags, "groupType", "groupId", decode(hash, 'hex') from arrived
  ), searchable as (
    insert into event_search (id, created_by_user_id, day, type, project, environment, feature_name, text,
                              creator_text, constant_text, varying_text)
    select id, "createdByUserId", ("createdAt" at time zone 'UTC')::date, type, project, environment, "featureName", '',
           "creatorText", "constantText", "varyingText" from arrived
  ), texts as (${insertTextsSql(6)}
  ), creators as (
    insert into event_creator (project, id, name, last_event)
    select distinct on (project, "createdByUserId") project, "createdByUserId", "createdBy", id from arrived
    order by project, "createdByUserId", id desc
    on conflict (project, id) do update set name = excluded.name, last_event = excluded.last_event
  ), active as (${recordActivitySql}
  )
  update event_log_head set id = $1, uid = $2, events = events + $3, hash = decode($4, 'hex'), texts = $5`;

/** The timestamp as PostgreSQL returns it. The log stores milliseconds. */
function timestamp(createdAt: string): string {
  return `${new Date(createdAt).toISOString().slice(0, -1)}000Z`;
}

function jsonText(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Replaces lone surrogates, which PostgreSQL cannot store: the hash must be that of the stored text. */
function toStorableText<T extends string | null>(text: T): T {
  return text === null ? text : (text.toWellFormed() as T);
}

/**
 * Prepares an event for `appendEvents`: the part of the work that needs no transaction.
 * @param uid identifies the event when it is delivered again
 */
export function prepareEvent(uid: string, event: OutboxEvent): PreparedEvent {
  return {
    uid: uid.toLowerCase(),
    type: event.type,
    createdAt: timestamp(event.createdAt),
    createdBy: toStorableText(event.createdBy),
    createdByUserId: event.createdByUserId,
    project: toStorableText(event.project),
    environment: toStorableText(event.environment),
    featureName: toStorableText(event.featureName),
    data: jsonText(event.data),
    preData: jsonText(event.preData),
    tags: JSON.stringify(event.tags),
    groupType: toStorableText(event.groupType ?? null),
    groupId: toStorableText(event.groupId ?? null),
    texts: withDigests(searchableTexts(event)),
  };
}

/**
 * Appends events in their order, each with an id and a hash, and skips those that the log already has. Other appenders wait until the
 * transaction ends, so that an event never becomes visible after one with a higher id.
 * @param remembered the texts of the appends of this process
 */
export async function appendEvents(
  tx: Tx,
  events: readonly PreparedEvent[],
  remembered: RememberedTexts = rememberedTexts(),
): Promise<void> {
  const { query } = tx;
  // The lock comes first: each later statement then sees all events of earlier appenders.
  const head = await lockEventLogHead(tx);
  const stored = await query<{ uid: string }>(selectStoredUids, [events.map(({ uid }) => uid)]);
  const storedUids = new Set(stored.map(({ uid }) => uid));
  let { id, hash } = head;
  const added: (PreparedEvent & HashedEvent)[] = [];
  for (const event of events) {
    if (storedUids.has(event.uid)) continue;
    storedUids.add(event.uid);
    id++;
    hash = eventHash(hash, { ...event, id });
    added.push({ ...event, id, hash });
  }
  const last = added.at(-1);
  if (last === undefined) return;
  await ensurePartitions(tx, head, last.id);
  const texts = await resolveTexts(tx, added, head.texts, remembered.of(head));
  const rows = added.map((event, nth) => ({ ...event, ...(texts.ids[nth] as (typeof texts.ids)[number]) }));
  const lists = members.map((member) => listValue(member, rows));
  const lastText = head.texts + texts.added.length;
  await query(insertEvents, [
    last.id,
    last.uid,
    rows.length,
    last.hash,
    lastText,
    ...newTextValues(texts.added),
    ...lists,
  ]);
  remembered.keep({ hash: last.hash, droppedId: head.droppedId });
}
