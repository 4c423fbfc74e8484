import { prepared, type ReadDatabase } from '@bunting/database';
import { LRUCache } from 'lru-cache';
import { describeEvent, type LoggedEvent } from './describe-event.ts';
import { otherProjectsOf } from './event-filters.ts';

/** An event as JSON text, in which its data is the text that is stored, and parsed. */
export interface FoundEvent {
  readonly id: number;
  /** the length of its stored text in characters */
  readonly size: number;
  /** Parses the event, of which the page itself has only the text. */
  readonly parse: () => LoggedEvent;
  /** the members that say which events were caused together, as JSON text without braces */
  readonly groupJson: string;
  /** The event without label and summary as JSON text, without the last brace. */
  readonly undescribed: () => string;
  /** The event with label and summary, which are made once and kept. @param base the URL that their links begin with */
  readonly described: (base: string) => DescribedEvent;
}

interface DescribedEvent {
  /** the event with label and summary as JSON text, without the last brace */
  readonly content: string;
  /** the projects that it names beside its own */
  readonly otherProjects: readonly string[];
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

/** The columns of `event` as an `EventRow`. The service serializes the row as JSON, because the database would take much longer for that. */
export const eventColumns = `
  event.id, floor(extract(epoch from event.created_at) * 1000)::bigint as "createdAt", event.type,
  event.created_by as "createdBy", event.created_by_user_id as "createdByUserId", event.environment, event.project,
  event.feature_name as "featureName", event.data::text as data, event.pre_data::text as "preData", event.tags::text as tags,
  event.group_type as "groupType", event.group_id as "groupId"`;

/**
 * SQL: the event of an id, as a table of one row. `offset 0` makes the planner look up each event by its id, because a page is short and the
 * log is long.
 */
export function selectEventById(id: string): string {
  return `(select ${eventColumns} from event where event.id = ${id} offset 0)`;
}

/** The event of a row. The JSON texts of its data are inserted without parsing. */
export function toFoundEvent(row: EventRow): FoundEvent {
  const { id, type, createdBy, createdByUserId, environment, project, featureName, data, preData, tags } = row;
  const { groupType, groupId } = row;
  const createdAt = new Date(row.createdAt).toISOString();
  const head = { id, createdAt, type, createdBy, createdByUserId, environment, project, featureName };
  let content = `${JSON.stringify(head).slice(0, -1)},"data":${data},"preData":${preData},"tags":${tags}`;
  const { length } = content;
  const undescribed = (): string => content.slice(0, length);
  const parse = (): LoggedEvent => JSON.parse(`${undescribed()}}`) as LoggedEvent;
  let otherProjects: readonly string[] | undefined;
  return {
    id,
    size: length,
    groupJson: JSON.stringify({ groupType, groupId }).slice(1, -1),
    parse,
    undescribed,
    described: (base) => {
      if (otherProjects === undefined) {
        const event = parse();
        otherProjects = otherProjectsOf(event);
        content += descriptionJson(event, base);
      }
      return { content, otherProjects };
    },
  };
}

/** Label and summary of an event as JSON text that continues its members. */
export function descriptionJson(event: LoggedEvent, base: string): string {
  const { label, summary } = describeEvent(event, base);
  return `,"label":${JSON.stringify(label)},"summary":${JSON.stringify(summary)}`;
}

const selectEvents = prepared(`select event.uid, ${eventColumns} from event where event.id = any($1::bigint[])`);

/** The maximum size of the cached events, in characters of their texts. */
const maxCacheSize = 24_000_000;
/** That of an entry beside the stored text: label and summary, and what the cache needs. */
const sizeOfEntry = 600;

/** An event, by its id and by what no other event has. */
export interface EventIdentity {
  readonly id: number;
  readonly uid: string | null;
}

/**
 * Reads events by their ids, and caches them, as they never change. A backup that was restored may have given their ids to others: it is
 * recognised by the newest event that was cached, since the log before an event is always the same.
 */
export function eventReader(database: ReadDatabase) {
  const cache = new LRUCache<number, FoundEvent>({
    maxSize: maxCacheSize,
    sizeCalculation: ({ size }) => size + sizeOfEntry,
  });
  const none: EventIdentity = { id: 0, uid: null };
  let newest = none;
  return {
    /** the newest event that was cached; the id 0 if none was */
    newest: (): EventIdentity => newest,
    /** Empties the cache, after the log was found to lack the newest event that was cached. */
    clear: (): void => {
      cache.clear();
      newest = none;
    },
    /** The events in the order of the ids; undefined if the log lacks one by now. */
    read: async (ids: readonly number[]): Promise<readonly FoundEvent[] | undefined> => {
      const found = new Map<number, FoundEvent>();
      const missing: number[] = [];
      for (const id of ids) {
        const cached = cache.get(id);
        if (cached === undefined) missing.push(id);
        else found.set(id, cached);
      }
      const rows =
        missing.length === 0 ? [] : await database.read<EventRow & { readonly uid: string }>(selectEvents, [missing]);
      if (rows.length < missing.length) return undefined;
      for (const row of rows) {
        const event = toFoundEvent(row);
        cache.set(event.id, event);
        found.set(event.id, event);
        if (event.id > newest.id) newest = { id: event.id, uid: row.uid };
      }
      return ids.flatMap((id) => found.get(id) ?? []);
    },
  };
}
