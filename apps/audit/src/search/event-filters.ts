import {
  type Caller,
  foldForSearch,
  invalid,
  isAdministrator,
  type OutboxEvent,
  type RequestOf,
  type SearchEvents,
} from '@bunting/contracts';
import {
  invalidParameter,
  type Parameter,
  parameterParser,
  parseDay,
  parseTimeZone,
  startOfDay,
  parseId,
  parseList,
  splitOperator,
} from '@bunting/contracts/validation';
import type { ExternallyRecordedHash } from '../log/externally-recorded-hash.ts';
import { memberText } from '../log/redaction.ts';
import type { LoggedEvent } from './describe-event.ts';

type SearchParameters = RequestOf<typeof SearchEvents>['query'];

/** The parsed filters of an event search. All that are present must match. */
export interface EventFilters {
  /** ids of events */
  readonly ids?: readonly number[] | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly text?: string | undefined;
  readonly types?: readonly string[] | undefined;
  readonly projects?: readonly string[] | undefined;
  readonly features?: readonly string[] | undefined;
  readonly environments?: readonly string[] | undefined;
  readonly creators?: readonly number[] | undefined;
  /** the start of the first day */
  readonly notBefore?: Date | undefined;
  /** the end of the last day */
  readonly before?: Date | undefined;
}

/** An operator and a list of values. Without a value it is no filter, as in Unleash. */
function parseValues(parameter: Parameter): readonly string[] | undefined {
  const values = parseList(parameter, splitOperator(parameter, ['IS', 'IS_ANY_OF'])[1]);
  return values.length === 0 ? undefined : values;
}

function parseIds(entities: 'events' | 'users') {
  return (parameter: Parameter): readonly number[] | undefined =>
    parseValues(parameter)?.map((value) => {
      const id = parseId(value);
      if (id === undefined) throw invalidParameter(parameter, `list ids of ${entities}`);
      return id;
    });
}

function parseDayFilter(parameter: Parameter): string {
  return parseDay(parameter, splitOperator(parameter, ['IS'])[1]);
}

/**
 * Parses the filters of an event search: `IS:` and `IS_ANY_OF:` lists, and days in UTC or the time zone that the query names.
 * @throws Refusal `ValidationError` that names the parameter at fault.
 */
export function parseEventFilters(query: SearchParameters): EventFilters {
  const read = parameterParser(query);
  const timeZone = read('timeZone', parseTimeZone) ?? 'UTC';
  const firstDay = read('from', parseDayFilter);
  const lastDay = read('to', parseDayFilter);
  return {
    ids: read('id', parseIds('events')),
    groups: read('groupId', parseValues),
    text: read('query', ({ text }) => text),
    types: read('type', parseValues),
    projects: read('project', parseValues),
    features: read('feature', parseValues),
    environments: read('environment', parseValues),
    creators: read('createdBy', parseIds('users')),
    notBefore: firstDay === undefined ? undefined : startOfDay(firstDay, timeZone),
    before: lastDay === undefined ? undefined : startOfDay(lastDay, timeZone, 1),
  };
}

/** Which events a caller may see. */
export interface EventVisibility {
  /** whether to include events of no project, which concern users, tokens and permissions */
  readonly ofNoProject: boolean;
  /** projects whose events are hidden from the caller */
  readonly hiddenProjects: readonly string[];
}

/** Administrators see all events, other callers those of projects that are not hidden from them. */
export function eventVisibilityOf(caller: Caller): EventVisibility {
  return {
    ofNoProject: isAdministrator(caller),
    hiddenProjects: caller.hiddenProjects ?? [],
  };
}

/**
 * The event without the parts about a hidden project. The event of a moved flag names its old project, and the `preData` of a moved segment
 * is of its old project. Returns the same object if there is nothing to remove.
 */
export function withoutHiddenProject(event: LoggedEvent, { hiddenProjects }: EventVisibility): LoggedEvent {
  const isHidden = (project: string | undefined): boolean => project !== undefined && hiddenProjects.includes(project);
  if (event.type === 'feature-project-change' && isHidden(memberText(event.data, 'oldProject')))
    return { ...event, data: { ...event.data, oldProject: null } };
  return isHidden(memberText(event.preData, 'project')) ? { ...event, preData: null } : event;
}

/** The projects that an event names beside its own: `withoutHiddenProject` removes what it says about them. */
export function otherProjectsOf(event: LoggedEvent): readonly string[] {
  const oldProject = event.type === 'feature-project-change' ? memberText(event.data, 'oldProject') : undefined;
  return [oldProject, memberText(event.preData, 'project')].filter(
    (project): project is string => project !== undefined && project !== event.project,
  );
}

/** Begins the path of a bound in a refusal: bounds are query parameters of operations, and options of a command. */
type PathPrefix = '/query/' | '--';

function requireAtMost(path: string, id: number, max: number, lastId: number): void {
  if (id <= max) return;
  throw invalid(
    `The \`${path}\` property must be at most ${max}: the last event has the id ${lastId}. You sent ${id}.`,
    path,
  );
}

/** Refuses a feed that begins after an event which does not exist yet. */
export function requireAfterNotBeyondLog(after: number, lastId: number): void {
  return requireAtMost('/query/after', after, lastId, lastId);
}

/** Refuses a range that begins beyond the next event. From the next event on, the range is empty, and valid. */
export function requireFromNotBeyondNextEvent(
  from: number | undefined,
  lastId: number,
  prefix: PathPrefix = '/query/',
): void {
  return requireAtMost(`${prefix}from`, from ?? 0, lastId + 1, lastId);
}

/** Refuses a range that ends before it begins. */
export function requireFromNotAfterTo(
  from: number | undefined,
  to: number | undefined,
  prefix: PathPrefix = '/query/',
): void {
  if (from !== undefined && to !== undefined && from > to)
    throw invalid(`The \`${prefix}from\` property must not be greater than \`${prefix}to\`.`, `${prefix}from`);
}

/** Refuses an externally recorded hash whose event the log has dropped for its age: it cannot be compared. */
export function requireEventNotDropped({ id, path }: ExternallyRecordedHash, droppedId: number): void {
  if (id >= droppedId) return;
  const subject = path === undefined ? 'The known event' : `The \`${path}\` property`;
  throw invalid(
    `${subject} names event ${id}, which was dropped for its age: the log begins after event ${droppedId}.`,
    path,
  );
}

/** The maximum number of ids that a page covers. Pages of rare events may therefore be empty. */
export const maxIdsOfFeedPage = 20_000;
export const maxEventsOfFeedPage = 250;
/** The maximum size of the events of a page, in UTF-16 code units of their JSON texts. */
const maxCharacters = 400_000;

/** An event, and the length of its JSON text. */
interface SizedEvent {
  readonly id: number;
  readonly size: number;
}

/**
 * Limits a page to the maximum number of characters, which a single event may exceed.
 * @param found the first matching events after an id, at most `maxEventsOfFeedPage`, of the next `maxIdsOfFeedPage` ids
 * @param head the last id of the log
 * @returns the events of the page, and the id after which the next page begins
 */
export function limitFeedPage<E extends SizedEvent>(found: readonly E[], after: number, head: number) {
  const events: E[] = [];
  let characters = 0;
  for (const event of found) {
    if (events.length > 0 && characters + event.size > maxCharacters) break;
    characters += event.size;
    events.push(event);
  }
  // A page covers all of its ids unless the number of events or of characters has limited it.
  const isComplete = events.length === found.length && events.length < maxEventsOfFeedPage;
  const next = isComplete ? Math.max(after, Math.min(head, after + maxIdsOfFeedPage)) : (events.at(-1)?.id ?? after);
  return { events, next };
}

/** Separates two parts of a searchable text. Folded text never contains it, so a search cannot match across two parts. */
const separator = '\u001f';

function collect(value: unknown, parts: Set<string>): void {
  if (value === null || value === undefined) return;
  if (Array.isArray(value)) {
    for (const element of value) collect(element, parts);
  } else if (typeof value === 'object') {
    for (const [key, member] of Object.entries(value)) {
      parts.add(foldForSearch(key));
      collect(member, parts);
    }
  } else {
    parts.add(foldForSearch(String(value)));
  }
}

function partsOf(value: unknown): Set<string> {
  const parts = new Set<string>();
  collect(value, parts);
  return parts;
}

/** A number or a time, which differs from event to event more often than other values do. */
const numeric = /^[\d.:+\-tz]+$/;

/**
 * The texts that searches match, beside the event's type: who caused it, by e-mail address and username, and every key and value of the data
 * before and after and every tag, without duplicates. Values are plain text, without the escapes of JSON. What the event changed, or the
 * numbers of one that has no data before and after, are apart from the rest, because the rest is the same in many events, and equal texts
 * are stored once.
 */
export interface SearchableTexts {
  readonly creator: string;
  readonly constant: string;
  readonly varying: string;
}

export function searchableTexts({
  createdBy,
  createdByUsername,
  data,
  preData,
  tags,
}: Pick<OutboxEvent, 'createdBy' | 'createdByUsername' | 'data' | 'preData' | 'tags'>): SearchableTexts {
  const [after, before] = [partsOf(data), partsOf(preData)];
  const hasBoth = after.size > 0 && before.size > 0;
  const constant = new Set<string>();
  const varying = new Set<string>();
  for (const part of new Set([...after, ...before])) {
    const isConstant = hasBoth ? after.has(part) && before.has(part) : !numeric.test(part);
    (isConstant ? constant : varying).add(part);
  }
  for (const tag of tags) {
    const text = foldForSearch(`${tag.type}:${tag.value}`);
    if (!varying.has(text)) constant.add(text);
  }
  return {
    creator: [createdBy, createdByUsername ?? []]
      .flat()
      .map((text) => foldForSearch(text))
      .join(separator),
    constant: [...constant].join(separator),
    varying: [...varying].join(separator),
  };
}
