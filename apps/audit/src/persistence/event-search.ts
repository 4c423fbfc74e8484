import { unavailable } from '@bunting/contracts';
import type { Database, Statement } from '@bunting/database';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { type Conditions, conditionsOf, type Criteria, where } from './criteria.ts';
import { eventOf, type EventRow, foundEvent, type FoundEvents, type PageOf } from './found-events.ts';

export type { FoundEvent } from './found-events.ts';

/** How many counts of texts run concurrently: that of a frequent one reads all of them, and must leave connections to others. */
const maxConcurrentTextCounts = 2;
/** Room for totals, in characters of their conditions, and what one takes beside these. */
const totalsRoom = 8_000_000;
const roomOfTotal = 300;
/** How often a search starts again because the log has lost events meanwhile. */
const maxAttempts = 3;

/** How many events match, of those that the log held at one moment. */
interface Total {
  readonly events: number;
  /** the last event of the log at that moment */
  readonly upTo: number;
  readonly uid: string | null;
  /** the last event that had been dropped for its age */
  readonly droppedId: number;
}

interface Count {
  readonly conditions: Conditions;
  readonly deadline: Date;
}

/** Counts what matches. Like every statement here it has no name: a plan made for any text is wrong for most of them. */
const countOf = ({ sql }: Conditions): Statement => ({
  text: `
    select counted.events, head.id as "upTo", head.uid, head.dropped_id as "droppedId"
    from event_log_head as head
    cross join (${sql.length === 0 ? 'select events from event_log_head' : `select count(*) as events from event_search ${where(...sql)}`}) as counted
    where head.one`,
});

/**
 * SQL: the ids of a page, the newest first. Where few events match, all of them are found and sorted; `id + 0` keeps the planner from
 * walking the primary key instead. Where many match, the primary key is walked backwards, but over no more ids than should hold the
 * page four times over: the events of last year may all be in the older half of the log.
 */
const pageOf = (conditions: Conditions, total: Total, { from, limit, skip = 0 }: PageOf) => {
  const values = [...conditions.values];
  const place = (value: unknown): string => `$${values.push(value)}::bigint`;
  const wanted = skip + limit;
  const spread = Math.max(1, total.upTo - total.droppedId) / Math.max(1, total.events);
  const highest = `id <= ${place(from)}`;
  const rows = `limit ${place(limit)} offset ${place(skip)}`;
  if (wanted * spread > total.events) {
    const matching = where(...conditions.sql, highest);
    return { values, sql: `select id from event_search ${matching} order by id + 0 desc ${rows}` };
  }
  const lowest = place(Math.min(from, total.upTo) - Math.ceil(4 * wanted * spread));
  const most = `limit ${place(wanted)}`;
  const near = where(...conditions.sql, highest, `id > ${lowest}`);
  const far = where(`(select count(*) from near) < ${place(wanted)}`, ...conditions.sql, highest, `id <= ${lowest}`);
  const sql = `
    with near as materialized (select id from event_search ${near} order by id desc ${most}),
      far as materialized (select id from event_search ${far} order by id + 0 desc ${most})
    select id from (select id from near union all select id from far) as matching order by id desc ${rows}`;
  return { values, sql };
};

/** The state of the log, and an event of the page, if there is one. */
type Row = { readonly later: number; readonly continues: boolean } & Omit<Total, 'events'> &
  (EventRow | { readonly id: null });

/** Reads a page, and counts what has arrived since the total was counted, in one statement: both are of one moment. */
const pageAndLaterOf = (conditions: Conditions, total: Total, page: PageOf) => {
  const { values, sql } = pageOf(conditions, total, page);
  const place = (value: unknown, type: string): string => `$${values.push(value)}::${type}`;
  const upTo = place(total.upTo, 'bigint');
  const text = `
    select head.id as "upTo", head.uid, head.dropped_id as "droppedId", later.events as later,
      head.dropped_id = ${place(total.droppedId, 'bigint')} and (${upTo} = head.dropped_id or exists (
        select 1 from event where id = ${upTo} and uid = ${place(total.uid, 'uuid')})) as continues,
      found.*
    from event_log_head as head
    cross join (select count(*) as events from event_search ${where(...conditions.sql, `id > ${upTo}`)}) as later
    left join (${sql}) as page on true
    left join lateral ${eventOf('page.id')} as found on true
    where head.one order by page.id desc`;
  return { statement: { text }, values };
};

/**
 * Searches the log. An answer is of one moment: its page and its total see the same events. Since the log only grows at its end, a
 * total is counted once, and continued from there by each later search with the same conditions. A total does not continue when
 * events were dropped, or a backup was restored; then it is counted again.
 */
export const eventSearch = (database: Database) => {
  const limitTextCounts = pLimit(maxConcurrentTextCounts);
  const count = async (conditions: Conditions): Promise<Total | undefined> =>
    (await database.read<Total>(countOf(conditions), conditions.values))[0];
  const totals = new LRUCache<string, Total, Count>({
    maxSize: totalsRoom,
    sizeCalculation: (_total, key) => key.length + roomOfTotal,
    // Concurrent searches with the same conditions share one count.
    ignoreFetchAbort: true,
    fetchMethod: (_key, _stale, { context: { conditions, deadline } }) =>
      conditions.readTexts
        ? limitTextCounts(() => {
            if (Date.now() >= deadline.getTime()) throw unavailable('Other searches took too long. Please try again.');
            return count(conditions);
          })
        : count(conditions),
  });

  return {
    /** The newest events that match, the newest first. */
    find: async (criteria: Criteria, page: PageOf, deadline: Date): Promise<FoundEvents> => {
      const conditions = conditionsOf(criteria);
      const key = JSON.stringify(conditions);
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const total = await totals.fetch(key, { context: { conditions, deadline }, forceRefresh: attempt > 0 });
        if (total === undefined) throw new Error('The event log has no head.');
        const { statement, values } = pageAndLaterOf(conditions, total, page);
        const rows = await database.read<Row>(statement, values);
        const [head] = rows;
        if (head === undefined) throw new Error('The event log has no head.');
        if (!head.continues) continue;
        const { upTo, uid, droppedId } = head;
        const events = total.events + head.later;
        totals.set(key, { events, upTo, uid, droppedId });
        return { events: rows.flatMap((row) => (row.id === null ? [] : foundEvent(row))), total: events };
      }
      throw unavailable('The event log has changed while it was searched. Please try again.');
    },
  };
};
export type EventSearch = ReturnType<typeof eventSearch>;
