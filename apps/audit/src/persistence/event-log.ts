import type { RecordedEvent } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { searchableText } from '../domain/searchable-text.ts';

/** An event on its way into the log, with what makes it the same event however often it arrives. */
export interface ArrivingEvent {
  readonly uid: string;
  readonly event: RecordedEvent;
}

// The snapshot of each statement is taken when it begins: the lock is had before anything else is looked at.
const lockHead = 'select id from event_log_head for update';
const knownUids = 'select uid from event where uid = any($1::uuid[])';

const insertEvents = `
  with arrived as (
    select * from json_to_recordset($1::json) as row (
      id bigint, uid uuid, type text, "createdAt" timestamptz, "createdBy" text, "createdByUserId" bigint,
      project text, environment text, "featureName" text, data json, "preData" json, tags json, text text)
  ), logged as (
    insert into event (id, uid, type, created_at, created_by, created_by_user_id,
                       project, environment, feature_name, data, pre_data, tags)
    select id, uid, type, "createdAt", "createdBy", "createdByUserId",
           project, environment, "featureName", data, "preData", tags from arrived
  ), searchable as (
    insert into event_search (id, type, project, feature_name, text)
    select id, type, project, "featureName", text from arrived
  ), counted as (
    insert into event_count as known (project, type, events)
    select project, type, count(*) from arrived group by project, type
    on conflict (project, type) do update set events = known.events + excluded.events
  )
  update event_log_head set id = $2, uid = $3, events = events + $4`;

/**
 * Appends events in their order; those that the log has already take no new id. Whoever else appends waits until the
 * transaction ends, so that an event never becomes visible after one with a higher id.
 */
export const appendEvents = async ({ query }: Tx, arriving: readonly ArrivingEvent[]): Promise<void> => {
  const [head] = await query<{ id: number }>(lockHead);
  const known = await query<{ uid: string }>(knownUids, [arriving.map(({ uid }) => uid)]);
  const seen = new Set(known.map(({ uid }) => uid));
  let id = head?.id ?? 0;
  const rows: (RecordedEvent & { id: number; uid: string; text: string })[] = [];
  for (const { uid, event } of arriving) {
    const same = uid.toLowerCase();
    if (seen.has(same)) continue;
    seen.add(same);
    rows.push({ ...event, id: ++id, uid: same, text: searchableText(event) });
  }
  const last = rows.at(-1);
  if (last !== undefined) await query(insertEvents, [JSON.stringify(rows), last.id, last.uid, rows.length]);
};
