import type { OutboxEvent } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { searchableText } from '../domain/searchable-text.ts';
import type { ChainedEvent } from './chained-event.ts';
import { type HashedEvent, eventHash } from '../persistence/log/hash-chain.ts';
import { lockEventLogHead } from '../persistence/log/log-head.ts';
import { recordActivitySql } from '../statistics/statistics-store.ts';
import { ensurePartitions } from '../persistence/log/partitions.ts';

/** An event in its stored form, without the id and the hash that its position in the log determines, and its text that searches match. */
export interface PreparedEvent extends Omit<ChainedEvent, 'id'> {
  readonly text: string;
}

const selectStoredUids = 'select uid from event where uid = any($1::uuid[])';

interface EventToInsert extends HashedEvent, PreparedEvent {}

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
  text: 'text',
};
const members = Object.keys(columnTypes) as (keyof EventToInsert)[];

/** Long members, which never contain the separators below. Each is sent as one joined text, so its values need no escaping as elements. */
const joinedMembers: readonly (keyof EventToInsert)[] = ['data', 'preData', 'tags', 'text'];
const elementSeparator = '\u001c';
const nullElement = '\u001d';

/** SQL: the array of a member's values, from the parameter with this number. */
const listExpression = (member: keyof EventToInsert, parameter: number): string => {
  const type = `${columnTypes[member]}[]`;
  return joinedMembers.includes(member)
    ? String.raw`string_to_array($${parameter}, E'\x1c', E'\x1d')::${type}`
    : `$${parameter}::${type}`;
};

/** The parameter that `listExpression` reads. */
const listValue = (member: keyof EventToInsert, rows: readonly EventToInsert[]): unknown =>
  joinedMembers.includes(member)
    ? rows.map((row) => row[member] ?? nullElement).join(elementSeparator)
    : rows.map((row) => row[member]);

const insertEvents = `
  with arrived as (
    select * from unnest(${members.map((member, nth) => listExpression(member, nth + 5)).join(', ')})
      as row (${members.map((member) => `"${member}"`).join(', ')})
  ), logged as (
    insert into event (id, uid, type, created_at, created_by, created_by_user_id,
                       project, environment, feature_name, data, pre_data, tags, group_type, group_id, hash)
    select id, uid, type, "createdAt", "createdBy", "createdByUserId",
           project, environment, "featureName", data, "preData", tags, "groupType", "groupId", decode(hash, 'hex') from arrived
  ), searchable as (
    insert into event_search (id, created_by_user_id, day, type, project, environment, feature_name, text)
    select id, "createdByUserId", ("createdAt" at time zone 'UTC')::date, type, project, environment, "featureName", text
    from arrived
  ), creators as (
    insert into event_creator (project, id, name, last_event)
    select distinct on (project, "createdByUserId") project, "createdByUserId", "createdBy", id from arrived
    order by project, "createdByUserId", id desc
    on conflict (project, id) do update set name = excluded.name, last_event = excluded.last_event
  ), active as (${recordActivitySql}
  )
  update event_log_head set id = $1, uid = $2, events = events + $3, hash = decode($4, 'hex')`;

/** The timestamp as PostgreSQL returns it. The log stores milliseconds. */
const timestamp = (createdAt: string): string => `${new Date(createdAt).toISOString().slice(0, -1)}000Z`;

const jsonText = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

/** Replaces lone surrogates, which PostgreSQL cannot store: the hash must be that of the stored text. */
const toStorableText = <T extends string | null>(text: T): T => (text === null ? text : (text.toWellFormed() as T));

/**
 * Prepares an event for `appendEvents`: the part of the work that needs no transaction.
 * @param uid identifies the event when it is delivered again
 */
export const prepareEvent = (uid: string, event: OutboxEvent): PreparedEvent => ({
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
  text: searchableText(event),
});

/**
 * Appends events in their order, each with an id and a hash, and skips those that the log already has. Other appenders wait until the
 * transaction ends, so that an event never becomes visible after one with a higher id.
 */
export const appendEvents = async (tx: Tx, events: readonly PreparedEvent[]): Promise<void> => {
  const { query } = tx;
  // The lock comes first: each later statement then sees all events of earlier appenders.
  const head = await lockEventLogHead(tx);
  const stored = await query<{ uid: string }>(selectStoredUids, [events.map(({ uid }) => uid)]);
  const storedUids = new Set(stored.map(({ uid }) => uid));
  let { id, hash } = head;
  const rows: EventToInsert[] = [];
  for (const event of events) {
    if (storedUids.has(event.uid)) continue;
    storedUids.add(event.uid);
    id++;
    hash = eventHash(hash, { ...event, id });
    rows.push({ ...event, id, hash });
  }
  const last = rows.at(-1);
  if (last === undefined) return;
  await ensurePartitions(tx, head.partitionedTo, last.id);
  const lists = members.map((member) => listValue(member, rows));
  await query(insertEvents, [last.id, last.uid, rows.length, last.hash, ...lists]);
};
