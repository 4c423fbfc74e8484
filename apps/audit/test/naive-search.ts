import type { Caller, EventType, OutboxEvent, SearchEventsBody } from '@bunting/contracts';

/** An event and the id that the log should have given it. */
export interface NumberedEvent {
  readonly id: number;
  readonly event: OutboxEvent;
}

/** All filters of events; one value of each list suffices for a match. */
export interface NaiveQuery {
  readonly types?: readonly string[] | undefined;
  readonly projects?: readonly string[] | undefined;
  readonly features?: readonly string[] | undefined;
  readonly environments?: readonly string[] | undefined;
  readonly creators?: readonly number[] | undefined;
  /** the first and the last day, `YYYY-MM-DD` */
  readonly from?: string;
  readonly to?: string;
  readonly text?: string;
  readonly textIn?: 'anywhere' | 'data';
  /** the highest id of the page, the number of matches to skip, and the maximum number of events */
  readonly highest?: number;
  readonly skip?: number;
  readonly limit?: number;
}

function texts(value: unknown): string[] {
  if (value === null) return [];
  if (Array.isArray(value)) return value.flatMap(texts);
  if (typeof value === 'object')
    return Object.entries(value as object).flatMap(([key, member]) => [key, ...texts(member)]);
  return [String(value)];
}

/** A direct implementation of every event search: over a list, event by event. */
export function naiveFind(
  log: readonly NumberedEvent[],
  question: NaiveQuery,
  { grants, hiddenProjects = [] }: Caller,
): { ids: number[]; totalEvents: number } {
  const { types, projects, features, environments, creators, from = '', to = '~', text = '', textIn } = question;
  const { highest = Infinity, skip = 0, limit = 100 } = question;
  const isAdmin = grants.some(({ permission }) => permission === 'ADMIN');
  const isAmong = <T>(wanted: readonly T[] | undefined, value: T | null) =>
    wanted === undefined || (value !== null && wanted.includes(value));
  const matching = log.filter(({ event }) => {
    const day = new Date(event.createdAt).toISOString().slice(0, 10);
    const searched = [
      ...(textIn === 'data' ? [] : [event.type, event.createdBy, event.createdByUsername ?? '']),
      ...texts(event.data),
      ...texts(event.preData),
      ...event.tags.map((tag) => `${tag.type}:${tag.value}`),
    ];
    return (
      (event.project === null ? isAdmin : !hiddenProjects.includes(event.project)) &&
      isAmong(types, event.type) &&
      isAmong(projects, event.project) &&
      isAmong(features, event.featureName) &&
      isAmong(environments, event.environment) &&
      isAmong(creators, event.createdByUserId) &&
      from <= day &&
      day <= to &&
      (text === '' || searched.some((one) => one.toLowerCase().includes(text.toLowerCase())))
    );
  });
  const page = matching.filter(({ id }) => id <= highest).toSorted((one, other) => other.id - one.id);
  return { ids: page.slice(skip, skip + limit).map(({ id }) => id), totalEvents: matching.length };
}

function listOf(value: string | undefined) {
  return value === undefined ? undefined : [value];
}

/** The criteria of the deprecated search, with any type of event. */
export type NaiveCriteria = Omit<SearchEventsBody, 'type'> & { readonly type?: EventType };

/** The expected result of a search by these criteria. */
export function naiveSearch(
  log: readonly NumberedEvent[],
  { type, project, feature, query = '', limit = 100, offset = 0 }: NaiveCriteria,
  caller: Caller,
): { ids: number[]; totalEvents: number } {
  const page = { limit, ...(offset === 0 ? {} : { highest: offset }) };
  return naiveFind(
    log,
    { types: listOf(type), projects: listOf(project), features: listOf(feature), text: query, ...page },
    caller,
  );
}
