import type { ReadDatabase, Statement } from '@bunting/database';
import { missingLogHeadError } from '../log/append-store.ts';
import type { LoggedEvent } from './describe-event.ts';
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

/** An event of a page, as JSON text in which its data has its original order of keys, and parsed. */
export interface FoundEvent {
  readonly json: string;
  /** parsed on each access, so that a page does not hold all its events in memory */
  readonly event: LoggedEvent;
  /** the members that say which events were caused together, as JSON text without braces */
  readonly groupJson: string;
}

export interface EventPage {
  /** the newest first */
  readonly events: readonly FoundEvent[];
  /** the number of matches on all pages */
  readonly total: number;
}

/** A row of `event`: JSON columns as text, the timestamp in milliseconds since 1970. */
export interface EventRow {
  readonly id: number;
  readonly createdAt: number;
  readonly type: string;
  readonly createdBy: string;
  readonly createdByUserId: number | null;
  readonly environment: string | null;
  readonly project: string | null;
  readonly featureName: string | null;
  readonly data: string | null;
  readonly preData: string | null;
  readonly tags: string;
  readonly groupType: string | null;
  readonly groupId: string | null;
}

/**
 * The event of an id, as a table of one row. `offset 0` makes the planner look up each event by its id, because a page is short and the log
 * is long. The service serializes the row as JSON, because the database would take much longer for that than for the read.
 */
export function selectEventById(id: string): string {
  return `(
  select event.id, floor(extract(epoch from event.created_at) * 1000)::bigint as "createdAt", event.type,
    event.created_by as "createdBy", event.created_by_user_id as "createdByUserId", event.environment, event.project,
    event.feature_name as "featureName", event.data::text as data, event.pre_data::text as "preData", event.tags::text as tags,
    event.group_type as "groupType", event.group_id as "groupId"
  from event where event.id = ${id} offset 0)`;
}

function parseOrNull(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}

/** The event of a row. The JSON texts of its data are inserted without parsing. */
export function toFoundEvent(row: EventRow): FoundEvent {
  const { id, type, createdBy, createdByUserId, environment, project, featureName, data, preData, tags } = row;
  const { groupType, groupId } = row;
  const createdAt = new Date(row.createdAt).toISOString();
  const head = { id, createdAt, type, createdBy, createdByUserId, environment, project, featureName };
  return {
    json: `${JSON.stringify(head).slice(0, -1)},"data":${data},"preData":${preData},"tags":${tags}}`,
    groupJson: JSON.stringify({ groupType, groupId }).slice(1, -1),
    get event() {
      return {
        ...head,
        data: parseOrNull(data),
        preData: parseOrNull(preData),
        tags: parseOrNull(tags),
      } as LoggedEvent;
    },
  };
}

/** An event of the feed with its hash in hex. */
export interface FoundFeedEvent extends FoundEvent {
  readonly id: number;
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

function pageAfter({ withoutTextIndex, values }: SearchConditions): Statement {
  const after = `$${values.length + 1}::bigint`;
  return {
    // One snapshot has the end of the log and all events before it: see event_log_head.
    text: `
      select head.id as head, page.* from event_log_head as head left join lateral (
        select event.*, (select encode(hash, 'hex') from event where event.id = found.id) as hash
        from (select id from event_search ${whereClause(`id > ${after}`, `id <= ${after} + ${maxIdsOfFeedPage}`, ...withoutTextIndex)}
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
      row.id === null ? [] : [Object.assign(toFoundEvent(row), { id: row.id, hash: row.hash })],
    );
    return { ...limitFeedPage(found, after, head), head };
  };
}
