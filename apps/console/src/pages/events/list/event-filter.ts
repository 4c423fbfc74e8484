import { type EventCreators, eventTypes, type RequestOf, type SearchEvents } from '@bunting/contracts';
import { readDayBound } from '../../../filtering/day-bound.ts';
import type { FilterError } from '../../../filtering/filter-error.ts';
import { type Suggestion, suggestionsAt } from '../../../filtering/filter-suggestions.ts';
import { filterTokensOf } from '../../../filtering/filter-tokens.ts';
import { eventsMessages } from '../../../messages/events.ts';
import { filterMessages } from '../../../messages/filters.ts';

const text = eventsMessages.faults;

/** The parameters of a search for events, without its page. */
export type EventQuery = Omit<RequestOf<typeof SearchEvents>['query'], 'offset' | 'limit'>;

interface EventFilter {
  readonly query: EventQuery;
  readonly errors: readonly FilterError[];
}

export interface EventFilterVocabulary {
  /** undefined while they are being read: names of users then find nothing yet */
  readonly creators: EventCreators | undefined;
  readonly projects: readonly string[];
  readonly environments: readonly string[];
  /** the one project of the page, which its filter cannot leave */
  readonly project: string | undefined;
}

const dayBefore = (day: string): string => new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);

/** The types that a pattern such as `feature-strategy-*` names. */
const typesOf = (pattern: string): readonly string[] => {
  const [first = '', ...rest] = pattern.toLowerCase().split('*');
  if (rest.length === 0) return eventTypes.filter((type) => type === first);
  return eventTypes.filter((type) => {
    let at = type.startsWith(first) ? first.length : -1;
    for (const [nth, part] of rest.entries()) {
      if (at < 0) return false;
      const found = nth === rest.length - 1 ? type.length - part.length : type.indexOf(part, at);
      at = found >= at && type.startsWith(part, found) ? found + part.length : -1;
    }
    return at >= 0;
  });
};

/**
 * Reads a filter such as `type:feature-strategy-* feature:checkout by:ada when:<7d beta`. Values of one key add up, keys narrow; words
 * without a key are searched in what events changed. What is not understood is a fault, and the rest still filters. Days are those of UTC.
 */
export const readEventFilter = (
  filter: string,
  { creators, project }: Pick<EventFilterVocabulary, 'creators' | 'project'>,
  now = new Date(),
): EventFilter => {
  const lists = new Map<string, Set<string>>();
  const days = new Map<string, string>();
  const words: string[] = [];
  const errors: FilterError[] = [];

  const creatorsNamed = (name: string): readonly string[] => {
    const wanted = name.toLowerCase();
    const found = (creators ?? []).filter(({ id, name: creatorName }) => {
      const full = creatorName.toLowerCase();
      // Users without a name are called by their email, of which the part before the @ is enough.
      return full === wanted || full.split('@')[0] === wanted || String(id) === name;
    });
    // The id 0 is that of no user, so it finds no event.
    return creators === undefined ? ['0'] : found.map(({ id }) => String(id));
  };
  const add = (parameter: string, values: readonly string[]): void => {
    lists.set(parameter, new Set([...(lists.get(parameter) ?? []), ...values]));
  };
  const addEach = (
    parameter: string,
    value: string,
    read: (one: string) => readonly string[],
    reason: string,
  ): string | undefined => {
    const values = value.split(',').filter((one) => one !== '');
    const found = values.map(read);
    if (values.length === 0 || found.some((one) => one.length === 0)) return reason;
    add(parameter, found.flat());
    return undefined;
  };
  const addDay = (side: 'from' | 'to', day: string): string | undefined => {
    if (days.has(side)) return text.dayTwice;
    days.set(side, day);
    return undefined;
  };
  const readers: Readonly<Record<string, (value: string) => string | undefined>> = {
    type: (value) => addEach('type', value, typesOf, text.type),
    project: (value) =>
      project === undefined ? addEach('project', value, (one) => [one], filterMessages.noValue) : text.project,
    feature: (value) => addEach('feature', value, (one) => [one], filterMessages.noValue),
    environment: (value) => addEach('environment', value, (one) => [one], filterMessages.noValue),
    by: (value) => addEach('createdBy', value, creatorsNamed, text.creator),
    id: (value) => addEach('id', value, (one) => (/^\d{1,15}$/.test(one) ? [one] : []), text.id),
    when: (value) => {
      const [day] = /^\d{4}-\d{2}-\d{2}$/.exec(value) ?? [];
      if (day !== undefined && !Number.isNaN(Date.parse(day))) return addDay('from', day) ?? addDay('to', day);
      const bound = readDayBound(value, now);
      if (bound === undefined) return text.day;
      return bound.isSince ? addDay('from', bound.day) : addDay('to', dayBefore(bound.day));
    },
  };

  for (const { text: token, isNegated, key, value } of filterTokensOf(filter)) {
    if (key === undefined) {
      words.push(value);
      continue;
    }
    const reader = Object.hasOwn(readers, key) ? readers[key] : undefined;
    const reason =
      reader === undefined
        ? filterMessages.unknownKey(key)
        : isNegated
          ? text.noExclusion
          : value === ''
            ? filterMessages.noValue
            : reader(value);
    if (reason !== undefined) errors.push({ token, reason });
  }
  if (project !== undefined) add('project', [project]);
  const query: Record<string, string> = {};
  for (const [parameter, values] of lists) query[parameter] = `IS_ANY_OF:${[...values].join(',')}`;
  for (const [side, day] of days) query[side] = `IS:${day}`;
  if (words.length > 0) query['query'] = words.join(' ');
  return { query, errors };
};

const keys = ['type', 'feature', 'project', 'environment', 'by', 'when', 'id'];

/** What could follow at the caret. */
export const eventSuggestions = (
  filter: string,
  caret: number,
  { creators = [], projects, environments, project }: EventFilterVocabulary,
): Suggestion[] =>
  suggestionsAt(
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
      return values[key] ?? [];
    },
  );
