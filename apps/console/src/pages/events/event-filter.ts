import { type EventCreators, eventTypes, type RequestOf, type SearchEvents } from '@bunting/contracts';
import { serverNow } from '../../api/server-clock.ts';
import {
  chipsOf,
  dayWords,
  type FilterChip,
  type FilterToken,
  filterTokensOf,
  type InvalidTextToken,
  ownTimeZone,
  readDayBound,
  type ReaderClock,
  unknownKeyText,
} from '../../filtering/filter-tokens.ts';
import { type Suggestion, suggestionsAt } from '../../filtering/filter-suggestions.ts';

/** The query parameters of a search for events, without those that choose a page of the result. */
export type EventQuery = Omit<RequestOf<typeof SearchEvents>['query'], 'offset' | 'limit'>;

interface EventFilter {
  readonly query: EventQuery;
  readonly errors: readonly InvalidTextToken[];
  readonly chips: readonly FilterChip[];
}

export interface EventFilterVocabulary {
  /** undefined while they are being read; a name of a user then finds no event */
  readonly creators: EventCreators | undefined;
  readonly projects: readonly string[];
  readonly environments: readonly string[];
  /** the project to which the page is limited, if any */
  readonly project: string | undefined;
}

function dayBefore(day: string): string {
  return new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
}

/** The types of events that match a pattern such as `feature-strategy-*`. */
function typesOf(pattern: string): readonly string[] {
  const [first = '', ...rest] = pattern.toLowerCase().split('*');
  if (rest.length === 0) return eventTypes.filter((type) => type === first);
  return eventTypes.filter((type) => {
    let matchedUpTo = type.startsWith(first) ? first.length : -1;
    for (const [index, part] of rest.entries()) {
      if (matchedUpTo < 0) return false;
      const start = index === rest.length - 1 ? type.length - part.length : type.indexOf(part, matchedUpTo);
      matchedUpTo = start >= matchedUpTo && type.startsWith(part, start) ? start + part.length : -1;
    }
    return matchedUpTo >= 0;
  });
}

const chipWords: Readonly<Record<string, string>> = { feature: 'flag', id: 'event' };

/** What a part of a filter with a key says. */
function chipLabel({ key = '', value }: FilterToken): string {
  if (key === 'when') return dayWords(value);
  return `${chipWords[key] ?? key} ${value.split(',').filter(Boolean).join(' or ')}`;
}

/**
 * Reads a filter such as `type:feature-strategy-* feature:checkout by:ada when:<7d beta`. An event must match each key, and of each key one
 * value; words without a key are searched in what events changed. A token that cannot be applied is an error; the others still filter.
 * Days are those of the reader.
 */
export function readEventFilter(
  filter: string,
  { creators, project }: Pick<EventFilterVocabulary, 'creators' | 'project'>,
  { now, timeZone }: ReaderClock = { now: new Date(serverNow()), timeZone: ownTimeZone() },
): EventFilter {
  const lists = new Map<string, Set<string>>();
  const days = new Map<string, string>();
  const words: string[] = [];
  const errors: InvalidTextToken[] = [];
  const applied: FilterToken[] = [];

  const creatorsNamed = (name: string): readonly string[] => {
    const searchedName = name.toLowerCase();
    const matching = (creators ?? []).filter(({ id, name: creatorName }) => {
      const fullName = creatorName.toLowerCase();
      // The name of a user may be an e-mail address, of which the part before the @ is enough.
      return fullName === searchedName || fullName.split('@')[0] === searchedName || String(id) === name;
    });
    // No user has the id 0, so it finds no event.
    return creators === undefined ? ['0'] : matching.map(({ id }) => String(id));
  };
  const add = (parameter: string, values: readonly string[]): void => {
    lists.set(parameter, new Set([...(lists.get(parameter) ?? []), ...values]));
  };
  const addEach = (
    parameter: string,
    value: string,
    read: (item: string) => readonly string[],
    reason: string,
  ): string | undefined => {
    const items = value.split(',').filter((item) => item !== '');
    const valuesOfItems = items.map(read);
    if (items.length === 0 || valuesOfItems.some((values) => values.length === 0)) return reason;
    add(parameter, valuesOfItems.flat());
    return undefined;
  };
  const addDay = (side: 'from' | 'to', day: string): string | undefined => {
    if (days.has(side)) return 'it is bounded on this side already';
    days.set(side, day);
    return undefined;
  };
  const readers: Readonly<Record<string, (value: string) => string | undefined>> = {
    type: (value) => addEach('type', value, typesOf, 'there is no such type of event'),
    project: (value) =>
      project === undefined
        ? addEach('project', value, (item) => [item], 'a value is missing')
        : 'this page is about one project',
    feature: (value) => addEach('feature', value, (item) => [item], 'a value is missing'),
    environment: (value) => addEach('environment', value, (item) => [item], 'a value is missing'),
    by: (value) => addEach('createdBy', value, creatorsNamed, 'this user has caused no event that you may see'),
    id: (value) =>
      addEach('id', value, (item) => (/^\d{1,15}$/.test(item) ? [item] : []), 'write the number of an event'),
    when: (value) => {
      const [day] = /^\d{4}-\d{2}-\d{2}$/.exec(value) ?? [];
      if (day !== undefined && !Number.isNaN(Date.parse(day))) return addDay('from', day) ?? addDay('to', day);
      const bound = readDayBound(value, now, timeZone);
      if (bound === undefined) return 'write <7d, >4w, >2026-01-31 or 2026-01-31';
      return bound.isSince ? addDay('from', bound.day) : addDay('to', dayBefore(bound.day));
    },
  };

  for (const filterToken of filterTokensOf(filter)) {
    const { text: token, isNegated, key, value } = filterToken;
    if (key === undefined) {
      words.push(value);
      continue;
    }
    const reader = Object.hasOwn(readers, key) ? readers[key] : undefined;
    const reason =
      reader === undefined
        ? unknownKeyText(key)
        : isNegated
          ? 'events cannot be excluded'
          : value === ''
            ? 'a value is missing'
            : reader(value);
    if (reason === undefined) applied.push(filterToken);
    else errors.push({ token, reason });
  }
  const chips = chipsOf(applied, ({ key }) => key !== 'when', chipLabel);
  if (project !== undefined) add('project', [project]);
  const query: Record<string, string> = {};
  for (const [parameter, values] of lists) query[parameter] = `IS_ANY_OF:${[...values].join(',')}`;
  for (const [side, day] of days) query[side] = `IS:${day}`;
  if (days.size > 0) query['timeZone'] = timeZone;
  if (words.length > 0) query['query'] = words.join(' ');
  return { query, errors, chips };
}

const keys = ['type', 'feature', 'project', 'environment', 'by', 'when', 'id'];

/** The suggestions for the token at the caret. */
export function eventSuggestions(
  filter: string,
  caret: number,
  { creators = [], projects, environments, project }: EventFilterVocabulary,
): Suggestion[] {
  return suggestionsAt(
    filter,
    caret,
    keys.filter((key) => key !== 'project' || project === undefined),
    (key) => {
      const values: Record<string, readonly string[]> = {
        type: ['feature-*', 'feature-strategy-*', 'change-*', 'segment-*', ...eventTypes],
        project: projects,
        environment: environments,
        by: creators.map(({ name }) => name),
        when: ['<1d', '<7d', '<30d', '>30d'],
      };
      return Object.hasOwn(values, key) ? (values[key] ?? []) : [];
    },
  );
}
