import type { ReadDatabase, Statement } from '@bunting/database';
import { missingLogHeadError } from '../log/append-store.ts';
import { type EventRow, type FoundEvent, selectEventById, toFoundEvent } from './event-store.ts';
import { limitFeedPage, maxEventsOfFeedPage, maxIdsOfFeedPage } from './event-filters.ts';
import {
  type EventCriteria,
  findMatchingTexts,
  type SearchConditions,
  searchConditions,
  searchCriteria,
  whereClause,
} from './search-store.ts';

export interface PageRequest {
  /** the highest id that the page may begin with */
  readonly from: number;
  readonly limit: number;
  /** how many matches to skip before the first one of the page; 0 by default */
  readonly skip?: number;
}

export interface EventPage {
  /** the newest first */
  readonly events: readonly FoundEvent[];
  /** the number of matches on all pages */
  readonly total: number;
}

/** An event of the feed with its hash in hex. */
export interface FoundFeedEvent extends FoundEvent {
  readonly hash: string | null;
}

/** A page of events after an id. */
export interface FeedPage {
  readonly events: readonly FoundFeedEvent[];
  /** the id up to which the log was read */
  readonly next: number;
  /** the end of the log in the snapshot of the page */
  readonly head: number;
}

/** The end of the log, and an event, if there is one. */
type Row = { readonly head: number; readonly hash: string | null } & (EventRow | { readonly id: null });

function pageAfter({ ofRows, values }: SearchConditions): Statement {
  const after = `$${values.length + 1}::bigint`;
  return {
    // One snapshot has the end of the log and all events before it: see event_log_head.
    text: `
      select head.id as head, page.* from event_log_head as head left join lateral (
        select event.*, (select encode(hash, 'hex') from event where event.id = found.id) as hash
        from (select id from event_search ${whereClause(`id > ${after}`, `id <= ${after} + ${maxIdsOfFeedPage}`, ...ofRows)}
              order by id limit ${maxEventsOfFeedPage}) as found cross join lateral ${selectEventById('found.id')} as event) as page on true
      where head.singleton order by page.id`,
  };
}

/** Reads the log in the order of ids, in bounded pages. */
export function eventFeed(database: ReadDatabase) {
  return async (criteria: EventCriteria, after: number): Promise<FeedPage> => {
    const searched = searchCriteria(criteria);
    const texts = searched.text && (await findMatchingTexts(database, searched.text));
    const conditions = searchConditions(searched, texts);
    const rows = await database.read<Row>(pageAfter(conditions), [...conditions.values, after]);
    if (rows[0] === undefined) throw missingLogHeadError();
    const { head } = rows[0];
    const found = rows.flatMap((row): FoundFeedEvent[] =>
      // Not by spread, which would parse the event.
      row.id === null ? [] : [Object.assign(toFoundEvent(row), { hash: row.hash })],
    );
    return { ...limitFeedPage(found, after, head), head };
  };
}
