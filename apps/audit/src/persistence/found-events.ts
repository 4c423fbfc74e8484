import type { LoggedEvent } from '../domain/description.ts';

export interface PageOf {
  /** the highest id that the page may begin with */
  readonly from: number;
  readonly limit: number;
  /** how many matches to leave out before the first one of the page; none when left out */
  readonly skip?: number;
}

/** An event of a page: as JSON text, in which the keys of its data stand as they were told, and what that text says. */
export interface FoundEvent {
  readonly json: string;
  readonly event: LoggedEvent;
}

export interface FoundEvents {
  /** the newest first */
  readonly events: readonly FoundEvent[];
  /** how many match on all pages together */
  readonly total: number;
}

/** The event of an id, as it is answered. One look into the log for each id: a page is short, and the log is long. */
export const eventOf = (id: string): string => `(
  select json_build_object(
    'id', event.id,
    'createdAt', to_char(event.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'type', event.type,
    'createdBy', event.created_by,
    'createdByUserId', event.created_by_user_id,
    'environment', event.environment,
    'project', event.project,
    'featureName', event.feature_name,
    'data', event.data,
    'preData', event.pre_data,
    'tags', event.tags)::text
  from event where event.id = ${id})`;

/** A `where` of conditions that must all hold. */
export const where = (...conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;

export const foundEvents = (rows: readonly { readonly json: string | null }[], total: number): FoundEvents => ({
  total,
  events: rows.flatMap(({ json }) => (json === null ? [] : { json, event: JSON.parse(json) as LoggedEvent })),
});
