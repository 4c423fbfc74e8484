import type { RecordedEvent } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { searchableText } from '../../domain/searchable-text.ts';
import { headForUpdate, type SealedEvent, sealOf } from './hash-chain.ts';
import { countActivity } from '../statistics/project-activity.ts';
import { ensurePartitions } from './partitions.ts';

/** An event on its way into the log, with what makes it the same event however often it arrives. */
export interface ArrivingEvent {
  readonly uid: string;
  readonly event: RecordedEvent;
}

const knownUids = 'select uid from event where uid = any($1::uuid[])';

/** An event as it is stored, with all that a search by text finds it by. */
interface ArrivedEvent extends SealedEvent {
  readonly text: string;
}

/** The types of what arrives, each in a list of its own: PostgreSQL reads lists in far less time than JSON. */
const arrived: Readonly<Record<keyof ArrivedEvent, string>> = {
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
  hash: 'text',
  text: 'text',
};
const members = Object.keys(arrived) as (keyof ArrivedEvent)[];

/** These are long and hold no control characters but those of search: joined by others, they need not be escaped one by one. */
const joined: readonly (keyof ArrivedEvent)[] = ['data', 'preData', 'tags', 'text'];
const between = '\u001c';
const nothing = '\u001d';

/** SQL: what arrives of a member, as a list, from the parameter with this number. */
const listed = (member: keyof ArrivedEvent, parameter: number): string => {
  const type = `${arrived[member]}[]`;
  return joined.includes(member)
    ? String.raw`string_to_array($${parameter}, E'\x1c', E'\x1d')::${type}`
    : `$${parameter}::${type}`;
};

/** The parameter that `listed` takes. */
const listOf = (member: keyof ArrivedEvent, rows: readonly ArrivedEvent[]): unknown =>
  joined.includes(member) ? rows.map((row) => row[member] ?? nothing).join(between) : rows.map((row) => row[member]);

const insertEvents = `
  with arrived as (
    select * from unnest(${members.map((member, nth) => listed(member, nth + 5)).join(', ')})
      as row (${members.map((member) => `"${member}"`).join(', ')})
  ), logged as (
    insert into event (id, uid, type, created_at, created_by, created_by_user_id,
                       project, environment, feature_name, data, pre_data, tags, hash)
    select id, uid, type, "createdAt", "createdBy", "createdByUserId",
           project, environment, "featureName", data, "preData", tags, decode(hash, 'hex') from arrived
  ), searchable as (
    insert into event_search (id, created_by_user_id, day, type, project, environment, feature_name, text)
    select id, "createdByUserId", ("createdAt" at time zone 'UTC')::date, type, project, environment, "featureName", text
    from arrived
  ), caused as (
    insert into event_creator (project, id, name, last_event)
    select distinct on (project, "createdByUserId") project, "createdByUserId", "createdBy", id from arrived
    order by project, "createdByUserId", id desc
    on conflict (project, id) do update set name = excluded.name, last_event = excluded.last_event
  ), active as (${countActivity}
  )
  update event_log_head set id = $1, uid = $2, events = events + $3, hash = decode($4, 'hex')`;

/** As PostgreSQL will give it back; the log keeps milliseconds. */
const moment = (createdAt: string): string => `${new Date(createdAt).toISOString().slice(0, -1)}000Z`;

const jsonText = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

/** Half a letter is no text that PostgreSQL could store; what is hashed is what will be stored. */
const storable = <T extends string | null>(text: T): T => (text === null ? text : (text.toWellFormed() as T));

/**
 * Appends events in their order, each with its hash; those that the log has already take no new id. Whoever else appends
 * waits until the transaction ends, so that an event never becomes visible after one with a higher id.
 */
export const appendEvents = async (tx: Tx, arriving: readonly ArrivingEvent[]): Promise<void> => {
  const { query } = tx;
  // The snapshot of each statement is taken when it begins: the lock is had before anything else is looked at.
  const head = await headForUpdate(tx);
  const known = await query<{ uid: string }>(knownUids, [arriving.map(({ uid }) => uid)]);
  const seen = new Set(known.map(({ uid }) => uid));
  let { id, hash } = head;
  const rows: ArrivedEvent[] = [];
  for (const { uid, event } of arriving) {
    const same = uid.toLowerCase();
    if (seen.has(same)) continue;
    seen.add(same);
    id++;
    const stored = {
      id,
      uid: same,
      type: event.type,
      createdAt: moment(event.createdAt),
      createdBy: storable(event.createdBy),
      createdByUserId: event.createdByUserId,
      project: storable(event.project),
      environment: storable(event.environment),
      featureName: storable(event.featureName),
      data: jsonText(event.data),
      preData: jsonText(event.preData),
      tags: JSON.stringify(event.tags),
    };
    hash = sealOf(hash, stored);
    rows.push({ ...stored, hash, text: searchableText(event) });
  }
  const last = rows.at(-1);
  if (last === undefined) return;
  await ensurePartitions(tx, head.partitionedTo, last.id);
  const lists = members.map((member) => listOf(member, rows));
  await query(insertEvents, [last.id, last.uid, rows.length, last.hash, ...lists]);
};
