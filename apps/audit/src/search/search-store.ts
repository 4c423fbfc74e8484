import { eventTypes, foldForSearch, Refusal, unavailable } from '@bunting/contracts';
import { escapeLike, prepared, type ReadDatabase, type Statement } from '@bunting/database';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { missingLogHeadError } from '../log/append-store.ts';
import { type TextPart, textParts } from '../log/text-store.ts';
import type { EventVisibility } from './event-filters.ts';
import { type EventIdentity, eventReader } from './event-store.ts';
import type { EventPage, PageRequest } from './feed-store.ts';

/** Criteria of a search. All must match that are present; a list matches if one of its values does. */
export interface EventCriteria {
  readonly types?: readonly string[] | undefined;
  readonly projects?: readonly string[] | undefined;
  readonly features?: readonly string[] | undefined;
  readonly environments?: readonly string[] | undefined;
  /** types that no event may have */
  readonly excludedTypes?: readonly string[] | undefined;
  /** ids that several events of one act have */
  readonly groups?: readonly string[] | undefined;
  /** ids of events */
  readonly ids?: readonly number[] | undefined;
  /** ids of the users who caused the events */
  readonly creators?: readonly number[] | undefined;
  /** an instant; where it is no midnight of UTC, the times of the events of its day are compared */
  readonly notBefore?: Date | undefined;
  /** as `notBefore` */
  readonly before?: Date | undefined;
  /** a substring, compared without regard to case; an empty one is no criterion */
  readonly text?: string | undefined;
  /** where the text must be: anywhere (the default), or only in the events' data and tags */
  readonly textIn?: 'anywhere' | 'data' | undefined;
  readonly visible: EventVisibility;
}

/** A text that events must contain. */
interface TextCriterion {
  /** the folded text */
  readonly text: string;
  readonly textIn: 'anywhere' | 'data';
  /** the types of events whose name contains the text */
  readonly types: readonly string[];
}

/** Criteria as SQL: conditions on `event_search`, in which `$1` is the first of the values, and beside them a text. */
export interface SearchCriteria {
  readonly sql: readonly string[];
  readonly values: readonly unknown[];
  readonly text: TextCriterion | undefined;
}

/** The conditions of a search, with that for its text. */
export interface SearchConditions {
  readonly sql: readonly string[];
  readonly values: readonly unknown[];
  /** the same conditions in the form for rows that are read by their ids */
  readonly ofRows: readonly string[];
}

/** A `where` clause of conditions that must all hold. */
export function whereClause(...conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
}

/**
 * The length in characters of the excerpts of a long text, which are searched in the trigram index instead of the text. The index reads a
 * list for every three characters of the text, and the lists beyond those of the excerpts hardly ever narrow the result further.
 */
const excerptLength = 6;

/**
 * The excerpts of a text that are searched in the trigram index: the start, the end and, if the text is longer than three excerpts, the
 * middle; none for a text of at most two excerpts.
 */
function excerptsOf(text: string): readonly string[] {
  const characters = Array.from(text);
  const { length } = characters;
  if (length <= 2 * excerptLength) return [];
  const starts = [0, ...(length > 3 * excerptLength ? [(length - excerptLength) >> 1] : []), length - excerptLength];
  return starts.map((start) => characters.slice(start, start + excerptLength).join(''));
}

/** Separates the creator from the data in the text of an event that is not indexed yet. No folded text contains it. */
const creatorSeparator = '\u001e';

/** The `like` pattern of texts that contain a text literally. */
function patternOf(text: string): string {
  return `%${escapeLike(text)}%`;
}

/** SQL: the day, UTC, of a timestamp. */
function dayOf(timestamp: string): string {
  return `(${timestamp}::timestamptz at time zone 'UTC')::date`;
}

function isMidnight(instant: Date): boolean {
  return instant.getTime() % 86_400_000 === 0;
}

/** SQL: when the event of a row happened, which its row does not have. It is read for the days at the ends of a search alone. */
const createdAt = '(select boundary.created_at from event as boundary where boundary.id = event_search.id)';

export function searchCriteria(criteria: EventCriteria): SearchCriteria {
  const sql: string[] = [];
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const addAnyOf = (column: string, type: string, accepted: readonly unknown[] | undefined): void => {
    // A plan for one value costs the same whatever the value, so that PostgreSQL makes it once.
    if (accepted?.length === 1) sql.push(`${column} = ${bind(accepted[0])}::${type}`);
    else if (accepted !== undefined) sql.push(`${column} = any(${bind(accepted)}::${type}[])`);
  };
  const {
    types,
    excludedTypes,
    groups,
    features,
    environments,
    ids,
    creators,
    notBefore,
    before,
    textIn = 'anywhere',
  } = criteria;
  const { ofNoProject, hiddenProjects } = criteria.visible;
  const isHidden = new Set(hiddenProjects);
  addAnyOf(
    'project',
    'text',
    criteria.projects?.filter((project) => !isHidden.has(project)),
  );
  if (criteria.projects === undefined && !ofNoProject) sql.push('project is not null');
  if (criteria.projects === undefined && hiddenProjects.length > 0)
    sql.push(`(project is null or project <> all(${bind(hiddenProjects)}::text[]))`);
  addAnyOf('type', 'text', types);
  for (const type of excludedTypes ?? []) sql.push(`type <> ${bind(type)}::text`);
  if (groups !== undefined)
    sql.push(`id in (select id from event where group_id is not null and group_id = any(${bind(groups)}::text[]))`);
  addAnyOf('feature_name', 'text', features);
  addAnyOf('id', 'bigint', ids);
  addAnyOf('environment', 'text', environments);
  addAnyOf('created_by_user_id', 'bigint', creators);
  if (notBefore !== undefined) {
    const bound = bind(notBefore);
    sql.push(
      isMidnight(notBefore)
        ? `day >= ${dayOf(bound)}`
        : `day >= ${dayOf(bound)} and (day > ${dayOf(bound)} or ${createdAt} >= ${bound}::timestamptz)`,
    );
  }
  if (before !== undefined) {
    const bound = bind(before);
    sql.push(
      isMidnight(before)
        ? `day < ${dayOf(bound)}`
        : `day <= ${dayOf(bound)} and (day < ${dayOf(bound)} or ${createdAt} < ${bound}::timestamptz)`,
    );
  }
  const text = foldForSearch(criteria.text ?? '');
  if (text === '') return { sql, values, text: undefined };
  const matchingTypes = textIn === 'data' ? [] : eventTypes.filter((type) => type.includes(text));
  return { sql, values, text: { text, textIn, types: matchingTypes } };
}

/** The stored texts that contain a text. */
interface MatchingTexts {
  /** the ids by part; undefined if there are more than `maxMatchingTexts` */
  readonly ids: Readonly<Partial<Record<TextPart, readonly number[]>>> | undefined;
  /** the last text that was compared */
  readonly upTo: number;
}

/** The maximum number of texts whose ids are sent with a search. */
const maxMatchingTexts = 5_000;
/** The maximum number of texts by whose ids a statement is planned: the planner looks at each. More of them are many events, and are hashed. */
const maxPlannedTexts = 300;

/** The parts of events in which a text is searched for. */
function searchedParts({ textIn }: TextCriterion): readonly TextPart[] {
  return textIn === 'data' ? textParts.filter((part) => part !== 'creator') : textParts;
}

/** SQL: the condition on `event_text` that it contains the text, served by its trigram index. */
function containsText(text: string, bind: (value: unknown) => string): string {
  const excerpts = excerptsOf(text);
  if (excerpts.length === 0) return `text like ${bind(patternOf(text))}`;
  const conditions = excerpts.map((excerpt) => `text like ${bind(patternOf(excerpt))}`);
  // No index has this expression, so it is evaluated on the texts that have the excerpts.
  return `${conditions.join(' and ')} and text || '' like ${bind(patternOf(text))}`;
}

/** Finds the stored texts that contain a text. */
export async function findMatchingTexts(database: ReadDatabase, criterion: TextCriterion): Promise<MatchingTexts> {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const parts = searchedParts(criterion).map((part) => textParts.indexOf(part));
  const [found] = await database.read<{ texts: number; found: readonly { part: number; ids: number[] }[] }>(
    {
      text: `
        select head.texts, coalesce(found, '[]') as found from event_log_head as head cross join (
          select json_agg(json_build_object('part', part, 'ids', ids)) as found from (
            select part, array_agg(id) as ids from (
              select part, id from event_text where ${containsText(criterion.text, bind)} and part = any(${bind(parts)}::smallint[])
              limit ${maxMatchingTexts + 1}) as matching
            group by part) as by_part) as matching
        where head.singleton`,
    },
    values,
  );
  if (found === undefined) throw missingLogHeadError();
  const count = found.found.reduce((sum, { ids }) => sum + ids.length, 0);
  const ids =
    count > maxMatchingTexts
      ? undefined
      : Object.fromEntries(found.found.map(({ part, ids }) => [textParts[part] as TextPart, ids]));
  return { ids, upTo: found.texts };
}

/**
 * The conditions of a search. Those for its text are exact whenever the matching texts were found: texts that were stored later are compared
 * one by one, and so are those of events that no background task has indexed yet, which have their text themselves.
 */
export function searchConditions(criteria: SearchCriteria, texts: MatchingTexts | undefined): SearchConditions {
  const { sql, text: criterion } = criteria;
  if (criterion === undefined || texts === undefined) return { sql, values: criteria.values, ofRows: sql };
  const values = [...criteria.values];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const parts = searchedParts(criterion);
  const pattern = bind(patternOf(criterion.text));
  // PostgreSQL refuses a parameter that a statement does not use.
  const upTo = texts.ids === undefined ? '0' : `${bind(texts.upTo)}::bigint`;
  const known = parts.flatMap((part): string[] => {
    const ids = texts.ids?.[part];
    if (ids === undefined) return [];
    const list = `${bind(ids)}::bigint[]`;
    return [`${part}_text ${ids.length > maxPlannedTexts ? `in (select unnest(${list}))` : `= any(${list})`}`];
  });
  const comparedOneByOne = (column: string): string =>
    `(select stored.text from event_text as stored where stored.id = ${column} limit 1) like ${pattern}`;
  // Not from one table of a `with` clause, which only one process of PostgreSQL could read.
  const comparedTogether = parts.map(
    (part) =>
      `${part}_text in (select id from event_text where part = ${textParts.indexOf(part)} and text like ${pattern})`,
  );
  const later = parts.map((part) => `${part}_text > ${upTo} and ${comparedOneByOne(`${part}_text`)}`);
  const ofType = criterion.types.length === 0 ? [] : [`type = any(${bind(criterion.types)}::text[])`];
  const unindexed = `text <> '' and text like ${criterion.textIn === 'data' ? bind(`%${creatorSeparator}${patternOf(criterion.text)}`) : pattern}`;
  const orOf = (...conditions: readonly string[]): string => `(${conditions.map((one) => `(${one})`).join(' or ')})`;
  return {
    sql: [...sql, orOf(...known, ...(texts.ids === undefined ? comparedTogether : later), ...ofType, unindexed)],
    values,
    ofRows: [...sql, orOf(...known, ...later, ...ofType, unindexed)],
  };
}

/** Concurrency limit of searches by text, which may read all texts: other calls need connections. */
const maxConcurrentScans = 2;
/** From so many texts on that were stored since the matching ones were found, these are found again. */
const maxLaterTexts = 2_000;
/** The maximum number of matches whose ids are cached. Of more matches only the number is. */
const maxCachedIds = 2_000;
/**
 * The maximum size of the cache, in characters. An entry has the size of its key, the JSON of the conditions, and of what is cached for it:
 * `sizeOfTotal` for the number of matches and the end of the log, and `sizeOfId` for each cached id, estimates of the memory that they need.
 */
const maxCacheSize = 32_000_000;
const sizeOfTotal = 300;
const sizeOfId = 12;
/** How many times the expected number of ids a backward scan for a page may read, since matches are not distributed evenly. */
const maxScanFactor = 4;
/** The cost of finding and sorting one match, in ids of a backward scan: its row may be the only one that is read of a disk page. */
const costOfMatch = 4;
/** The number of ids whose backward scan is fast enough, however few matches there are to find and sort instead. */
const fastScanLength = 50_000;
/** The maximum number of attempts of a search, which restarts after events were dropped or many matching ones appended during it. */
const maxAttempts = 3;

/** The matching events of one snapshot of the log. */
interface Matches {
  readonly events: number;
  /** the ids of all matches, the newest first; undefined if there are more than `maxCachedIds` */
  readonly ids: readonly number[] | undefined;
  /** of more matches, the ids of the newest that a page had, the newest first: none until such a page was read */
  readonly newest: readonly number[];
  /** the last event of the log in the snapshot of the search, and its uid */
  readonly upTo: number;
  readonly uid: string | null;
  /** the last event that had been dropped for its age */
  readonly droppedId: number;
  /** the texts that contain the text of the search, if it has one */
  readonly texts: MatchingTexts | undefined;
}

interface Search {
  readonly criteria: SearchCriteria;
  readonly deadline: Date;
}

/** Selects matches of one snapshot. Statements here are not prepared: a generic plan for any text is wrong for most texts. */
function withLogHead(matches: string): Statement {
  return {
    text: `
    select head.id as "upTo", head.uid, head.dropped_id as "droppedId", matches.*
    from event_log_head as head cross join (${matches}) as matches where head.singleton`,
  };
}

/** Counts matches, and selects their ids if they are few, in one pass over the texts. */
function idsAndCountOf({ sql }: SearchConditions): Statement {
  return withLogHead(`
    select count(*) as events, case when count(*) <= ${maxCachedIds} then to_json(array_agg(id)) end as ids
    from event_search ${whereClause(...sql)}`);
}

/** Selects matching ids: up to one more than the cache holds. */
function firstMatchesOf({ sql }: SearchConditions): Statement {
  return withLogHead(`
    select count(*) as events, to_json(array_agg(id)) as ids
    from (select id from event_search ${whereClause(...sql)} limit ${maxCachedIds + 1}) as few`);
}

/** Counts matches, with an index-only scan where an index has all columns. */
function countOf({ sql }: SearchConditions): Statement {
  return withLogHead(
    sql.length === 0
      ? 'select events, null as ids from event_log_head'
      : `select count(*) as events, null as ids from event_search ${whereClause(...sql)}`,
  );
}

async function findMatches(database: ReadDatabase, criteria: SearchCriteria): Promise<Matches> {
  const texts = criteria.text === undefined ? undefined : await findMatchingTexts(database, criteria.text);
  const conditions = searchConditions(criteria, texts);
  const read = async (statement: Statement): Promise<Matches> => {
    const [found] = await database.read<Matches & { readonly ids: number[] | null }>(statement, conditions.values);
    if (found === undefined) throw missingLogHeadError();
    const ids = found.events === 0 ? [] : found.ids?.toSorted((one, other) => other - one);
    return { ...found, ids, newest: [], texts };
  };
  if (texts !== undefined) {
    // Events with one of very many texts are very many as a rule, whose ids take as long to collect as the count.
    const counted = texts.ids === undefined ? await read(countOf(conditions)) : undefined;
    return counted !== undefined && counted.events > maxCachedIds ? counted : read(idsAndCountOf(conditions));
  }
  if (conditions.sql.length === 0) return read(countOf(conditions));
  const firstMatches = await read(firstMatchesOf(conditions));
  return firstMatches.events > maxCachedIds ? read(countOf(conditions)) : firstMatches;
}

/** Appends values to the parameters of the conditions, and returns their placeholders. */
function parametersAfter(conditions: SearchConditions) {
  const values = [...conditions.values];
  return { values, bind: (value: unknown, type = 'bigint'): string => `$${values.push(value)}::${type}` };
}
type Bind = ReturnType<typeof parametersAfter>['bind'];

/**
 * SQL: the rows after an id, newest first, as a table of which PostgreSQL uses the primary key alone, whatever the conditions on its columns.
 * Selected ids hide their values from the planner: with them it would make a new plan for each search, which costs more than the search. For
 * the same reason there is always an end.
 */
function rowsAfter(after: string, upTo: string): string {
  return `(
    select * from event_search where id > (select ${after}) and id <= (select ${upTo}) order by id desc offset 0) as event_search`;
}

/** SQL: the ids of a page, of those that are cached and those that matched later. */
function pageOfIds(ids: readonly number[], { from, limit, skip = 0 }: PageRequest, bind: Bind): string {
  const first = ids.findIndex((id) => id <= from);
  const mayBeOnPage = first === -1 ? [] : ids.slice(first, first + skip + limit);
  return `
  select id from (select id from later union all select unnest(${bind(mayBeOnPage, 'bigint[]')})) as matching
  where id <= ${bind(from)} order by id desc limit ${bind(limit)} offset ${bind(skip)}`;
}

/**
 * The lowest id of the range in which a page of many matches is looked for: a backward scan of the primary key finds it within `expectedIds`
 * ids if the matches are distributed evenly over the log, and it may be `maxScanFactor` times as far. Undefined if all matches are found and
 * sorted at a lower cost than that of the scan.
 */
function boundaryOf(matches: Matches, { from, limit, skip = 0 }: PageRequest): number | undefined {
  const idsPerMatch = Math.max(1, matches.upTo - matches.droppedId) / Math.max(1, matches.events);
  const expectedIds = (skip + limit) * idsPerMatch;
  return expectedIds > fastScanLength + costOfMatch * matches.events
    ? undefined
    : Math.min(from, matches.upTo) - Math.ceil(maxScanFactor * expectedIds);
}

/**
 * SQL: the ids of a page of many matches: above a boundary, or of all. PostgreSQL sorts by `id + 0` without a scan of the primary key, which
 * does not have this expression.
 */
function pageOfMany(
  { sql, ofRows }: SearchConditions,
  boundary: number | undefined,
  { from, limit, skip = 0 }: PageRequest,
  bind: Bind,
): string {
  const upTo = bind(from);
  const rows = `limit ${bind(limit)} offset ${bind(skip)}`;
  return boundary === undefined
    ? `select id from event_search ${whereClause(...sql, `id <= ${upTo}`)} order by id + 0 desc ${rows}`
    : `select id from ${rowsAfter(bind(boundary), upTo)} ${whereClause(...ofRows)} order by id desc ${rows}`;
}

/** The head of the log, the matches after the cached ones, and the page. */
interface Found extends Pick<Matches, 'upTo' | 'uid' | 'droppedId'> {
  /** the number of texts that were ever stored */
  readonly texts: number;
  readonly later: number;
  readonly laterIds: readonly number[] | null;
  /** whether the log still has the events that the cached matches were selected from */
  readonly continues: boolean;
  /** whether the log still has the newest cached event */
  readonly hasNewest: boolean;
  /** the events of the page, the newest first */
  readonly pageIds: readonly number[];
}

/** Whether a page begins after the last match. It is empty then, and not looked for. */
function isBeyond({ events }: Pick<Matches, 'events'>, { skip = 0 }: PageRequest): boolean {
  return skip >= events;
}

/** Whether the newest of many matches, those that are cached and those that were appended, have a page. */
function isOfNewest({ ids, newest, upTo }: Matches, { from, skip = 0, limit }: PageRequest): boolean {
  return ids === undefined && from >= upTo && skip + limit <= newest.length;
}

/**
 * Reads a page, and the matches that were appended since the cached ones were found, in one statement, hence in one snapshot.
 * @param ids the cached matches that have the page; undefined to look for it
 * @param boundary the lowest id of the range in which a page of many matches is looked for; undefined to find and sort all
 */
function pageAndLater(
  criteria: SearchCriteria,
  { matches, ids, boundary }: { matches: Matches; ids: Matches['ids']; boundary?: number | undefined },
  page: PageRequest,
  newest: EventIdentity,
): { readonly statement: Statement; readonly values: readonly unknown[] } {
  const conditions = searchConditions(criteria, matches.texts);
  const { values, bind } = parametersAfter(conditions);
  const { droppedId, uid } = matches;
  const upTo = bind(matches.upTo);
  const fromLaterMatches = `from ${rowsAfter(upTo, `${Number.MAX_SAFE_INTEGER}`)} ${whereClause(...conditions.ofRows)}`;
  const later =
    ids === undefined
      ? `select count(*) as events, null::json as ids ${fromLaterMatches}`
      : 'select count(*) as events, json_agg(id order by id desc) as ids from later';
  const [newestId, newestUid] = [bind(newest.id), bind(newest.uid, 'uuid')];
  const pageIds = isBeyond(matches, page)
    ? 'select null::bigint as id where false'
    : ids === undefined
      ? pageOfMany(conditions, boundary, page, bind)
      : pageOfIds(ids, page, bind);
  const text = `
    ${ids === undefined ? '' : `with later as materialized (select id ${fromLaterMatches} limit ${maxCachedIds + 1})`}
    select head.id as "upTo", head.uid, head.dropped_id as "droppedId", head.texts, counted.events as later, counted.ids as "laterIds",
      head.dropped_id = ${bind(droppedId)} and (${upTo} = head.dropped_id or exists (
        select 1 from event where id = ${upTo} and uid = ${bind(uid, 'uuid')})) as continues,
      ${newestId} = 0 or exists (select 1 from event where id = ${newestId} and uid = ${newestUid}) as "hasNewest",
      (select coalesce(json_agg(id order by id desc), '[]') from (${pageIds}) as page) as "pageIds"
    from event_log_head as head cross join (${later}) as counted where head.singleton`;
  // Where ids are known, or a range of them and no text, one plan suits all values.
  const isPlannedOnce = ids !== undefined || (criteria.text === undefined && boundary !== undefined);
  return { statement: isPlannedOnce ? prepared(text) : { text }, values };
}

/** The newest of many matches, as far as a page and the cache have them without a gap. */
function newestOf(
  { newest }: Matches,
  { upTo, later, laterIds, pageIds }: Found,
  { from, skip = 0 }: PageRequest,
): readonly number[] {
  const continued = later === 0 ? newest : laterIds === null ? [] : [...laterIds, ...newest].slice(0, maxCachedIds);
  const isFirstPage = skip === 0 && from >= upTo;
  return isFirstPage && pageIds.length > continued.length ? pageIds : continued;
}

/** The cached matches with later ones appended; undefined when the cache must be invalidated. */
function continueMatches(matches: Matches, found: Found, page: PageRequest): Matches | undefined {
  const { upTo, uid, droppedId, later, laterIds } = found;
  const { texts } = matches;
  if (!found.continues) return undefined;
  const end = { upTo, uid, droppedId, texts };
  if (matches.ids === undefined)
    return { events: matches.events + later, ids: undefined, newest: newestOf(matches, found, page), ...end };
  const ids = [...(laterIds ?? []), ...matches.ids];
  return later > maxCachedIds || ids.length > maxCachedIds
    ? undefined
    : { events: ids.length, ids, newest: [], ...end };
}

/**
 * Searches the log. The page and the total of a response are of one snapshot. Since the log grows at its end only, the matches of a search
 * are cached, and each later search with the same conditions appends the new ones. The cache is invalidated when events were pruned or a
 * backup was restored.
 */
export function eventSearch(database: ReadDatabase) {
  const events = eventReader(database);
  const limitScans = pLimit(maxConcurrentScans);
  const scan = <T>(deadline: Date, job: () => Promise<T>): Promise<T> =>
    limitScans(() => {
      if (Date.now() >= deadline.getTime()) throw unavailable('Other searches took too long. Please try again.');
      return job();
    });
  const cache = new LRUCache<string, Matches, Search>({
    maxSize: maxCacheSize,
    sizeCalculation: ({ ids = [], newest, texts }, key) =>
      key.length +
      sizeOfTotal +
      sizeOfId * (ids.length + newest.length + Object.values(texts?.ids ?? {}).flat().length),
    // Concurrent searches with the same conditions share one scan, which is completed even if its entry is set or evicted meanwhile.
    ignoreFetchAbort: true,
    fetchMethod: (_key, _stale, { context: { criteria, deadline } }) =>
      criteria.text === undefined
        ? findMatches(database, criteria)
        : scan(deadline, () => findMatches(database, criteria)),
  });
  /** The matches of a search. A scan that it shares with another search may fail by the deadline of that one: then it starts its own. */
  const fetchMatches = async (key: string, search: Search, forceRefresh: boolean): Promise<Matches> => {
    const fetch = () => cache.fetch(key, { context: search, forceRefresh });
    const matches = await fetch().catch((error: unknown) => {
      if (!(error instanceof Refusal) || Date.now() >= search.deadline.getTime()) throw error;
      return fetch();
    });
    if (matches === undefined) throw missingLogHeadError();
    return matches;
  };
  const readPage = async (
    criteria: SearchCriteria,
    matches: Matches,
    page: PageRequest,
    deadline: Date,
  ): Promise<Found> => {
    const readFrom = async (boundary: number | undefined, ids = matches.ids): Promise<Found> => {
      const { statement, values } = pageAndLater(criteria, { matches, ids, boundary }, page, events.newest());
      const [found] = await database.read<Found>(statement, values);
      if (found === undefined) throw missingLogHeadError();
      return found;
    };
    const read = async (): Promise<Found> => {
      if (matches.ids !== undefined) return readFrom(undefined);
      const boundary = boundaryOf(matches, page);
      if (boundary === undefined) return readFrom(undefined);
      // Matches are not distributed evenly: a page of old ones ends below the range, and mostly not far below it.
      for (const lowest of [boundary, boundary - fastScanLength]) {
        const found = await readFrom(lowest);
        if (lowest <= matches.droppedId || isBeyond(matches, page) || found.pageIds.length >= page.limit) return found;
      }
      return readFrom(undefined);
    };
    if (isOfNewest(matches, page)) {
      const found = await readFrom(undefined, matches.newest);
      // More than these may not have been counted.
      if (found.later <= maxCachedIds) return found;
    }
    // A page of many matches by text evaluates the text condition a second time.
    const isScan = criteria.text !== undefined && matches.ids === undefined && !isBeyond(matches, page);
    return isScan ? scan(deadline, read) : read();
  };
  /** The matches with the texts that are stored by now, if many were stored since: comparing them one by one would take longer and longer. */
  const withLaterTexts = async ({ text }: SearchCriteria, matches: Matches, stored: number): Promise<Matches> =>
    text === undefined || matches.texts?.ids === undefined || stored - matches.texts.upTo <= maxLaterTexts
      ? matches
      : { ...matches, texts: await findMatchingTexts(database, text) };

  return {
    /** The newest events that match, the newest first. */
    find: async (criteria: EventCriteria, page: PageRequest, deadline: Date): Promise<EventPage> => {
      const searched = searchCriteria(criteria);
      const key = JSON.stringify(searched);
      let isStale = false;
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const matches = await fetchMatches(key, { criteria: searched, deadline }, isStale);
        const found = await readPage(searched, matches, page, deadline);
        if (!found.hasNewest) events.clear();
        const current = continueMatches(matches, found, page);
        isStale = current === undefined;
        if (current === undefined) continue;
        cache.set(key, await withLaterTexts(searched, current, found.texts));
        // Matches were appended concurrently, so that the page is no longer past the last match.
        if (isBeyond(matches, page) && !isBeyond(current, page)) continue;
        const eventsOfPage = await events.read(found.pageIds);
        if (eventsOfPage !== undefined) return { events: eventsOfPage, total: current.events };
      }
      throw unavailable('The event log has changed while it was searched. Please try again.');
    },
  };
}
export type EventSearch = ReturnType<typeof eventSearch>;
