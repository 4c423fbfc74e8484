import type { RequestOf, SearchFeatures } from '@bunting/contracts';

/** The parameters of a search, without its page. */
export type SearchQuery = Omit<RequestOf<typeof SearchFeatures>['query'], 'offset' | 'limit'>;

/** A part of the filter that means nothing, and why. */
export interface FilterFault {
  readonly token: string;
  readonly reason: string;
}

export interface Filter {
  readonly query: SearchQuery;
  readonly faults: readonly FilterFault[];
}

interface Token {
  readonly text: string;
  /** where it begins in the filter */
  readonly start: number;
  readonly end: number;
}

/** Splits a filter at blanks; quotes hold a value with blanks together. */
export const tokensOf = (filter: string): Token[] =>
  [...filter.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)].map((match) => ({
    text: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));

const plain = (text: string): string => text.replaceAll('"', '');

const days = { d: 1, w: 7, m: 30, y: 365 } as const;

const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

/**
 * Reads `<7d` (in the last 7 days), `>4w` (longer ago), or the same with a day of the calendar, as an operator of the search.
 * Days are those of UTC, like the search's.
 */
const readDay = (value: string, now: Date): string | undefined => {
  const [, sign, count, unit] = /^([<>])(\d{1,5})([dwmy])$/.exec(value) ?? [];
  if (sign !== undefined) {
    const back = Number(count) * days[unit as keyof typeof days];
    const day = dayOf(new Date(now.getTime() - back * 86_400_000));
    return `${sign === '<' ? 'IS_ON_OR_AFTER' : 'IS_BEFORE'}:${day}`;
  }
  const [, side, date = ''] = /^([<>])(\d{4}-\d{2}-\d{2})$/.exec(value) ?? [];
  if (side === undefined || Number.isNaN(Date.parse(date))) return undefined;
  return `${side === '>' ? 'IS_ON_OR_AFTER' : 'IS_BEFORE'}:${date}`;
};

/** What the reading of a filter collects. */
interface Collected {
  readonly lists: Map<string, { yes: string[]; no: string[] }>;
  readonly texts: string[];
  readonly single: Map<string, string>;
}

type Reader = (value: string, isNot: boolean, into: Collected, now: Date) => string | undefined;

/** A list filter: values with commas between them, several keys of one name add up. */
const list =
  (parameter: string): Reader =>
  (value, isNot, { lists }) => {
    const values = value.split(',').filter((one) => one !== '');
    const entry = lists.get(parameter) ?? { yes: [], no: [] };
    (isNot ? entry.no : entry.yes).push(...values);
    lists.set(parameter, entry);
    return undefined;
  };

const oneOf =
  (parameter: string, allowed: readonly string[]): Reader =>
  (value, isNot, { single }) => {
    if (isNot || !allowed.includes(value)) return `write ${allowed.join(' or ')}`;
    single.set(parameter, value);
    return undefined;
  };

const day =
  (parameter: string): Reader =>
  (value, isNot, { single }, now) => {
    const operator = isNot ? undefined : readDay(value, now);
    if (operator === undefined) return 'write <7d, >4w, or >2026-01-31';
    single.set(parameter, operator);
    return undefined;
  };

const tag: Reader = (value, isNot, into, now) =>
  value.split(',').every((one) => /^[^:]+:.+$/.test(one))
    ? list('tag')(value, isNot, into, now)
    : 'write tag:type:value';

const readers: Readonly<Record<string, Reader>> = {
  type: list('type'),
  project: list('project'),
  owner: list('createdBy'),
  tag,
  segment: list('segment'),
  state: oneOf('state', ['active', 'stale']),
  archived: oneOf('archived', ['true', 'false']),
  favourite: oneOf('favorite', ['true', 'false']),
  created: day('createdAt'),
  seen: day('lastSeenAt'),
};

/** The keys that a filter understands, beside the names of environments. */
export const filterKeys: readonly string[] = Object.keys(readers);

const environmentReader =
  (environment: string): Reader =>
  (value, isNot, { lists }) => {
    if (isNot || (value !== 'on' && value !== 'off')) return `write ${environment}:on or ${environment}:off`;
    const entry = lists.get('status') ?? { yes: [], no: [] };
    // The search finds flags that match any of the states: two of them would mean less than they say.
    if (entry.yes.length > 0) return 'one environment at a time can be filtered';
    entry.yes.push(`${environment}:${value === 'on' ? 'enabled' : 'disabled'}`);
    lists.set('status', entry);
    return undefined;
  };

const valueFilter = ({ yes, no }: { yes: string[]; no: string[] }): string =>
  no.length > 0 ? `IS_NONE_OF:${no.join(',')}` : `IS_ANY_OF:${yes.join(',')}`;

const setFilter = ({ yes, no }: { yes: string[]; no: string[] }, isAll: boolean): string =>
  no.length > 0
    ? `EXCLUDE_IF_ANY_OF:${no.join(',')}`
    : `${isAll ? 'INCLUDE_ALL_OF' : 'INCLUDE_ANY_OF'}:${yes.join(',')}`;

/**
 * Reads a filter such as `type:release tag:team:web production:on seen:<7d checkout`. `-key:value` excludes; words without a key are
 * searched in names and tags. What is not understood is a fault, and the rest still filters.
 */
export const readFilter = (filter: string, environments: readonly string[], now = new Date()): Filter => {
  const collected: Collected = { lists: new Map(), texts: [], single: new Map() };
  const faults: FilterFault[] = [];
  const tagKeys: string[] = [];
  for (const { text } of tokensOf(filter)) {
    const [, minus = '', key, raw = ''] = /^(-?)([^:"]+):(.*)$/s.exec(text) ?? [];
    const environment = environments.find((name) => name === key);
    const reader =
      key === undefined
        ? undefined
        : (readers[key] ?? (environment === undefined ? undefined : environmentReader(environment)));
    if (reader === undefined) {
      if (key !== undefined && !text.startsWith('"')) {
        faults.push({ token: text, reason: `${key} is no key; put it into quotes to search for the text` });
      } else collected.texts.push(plain(text));
      continue;
    }
    const value = plain(raw);
    if (value === '') {
      faults.push({ token: text, reason: 'a value is missing' });
      continue;
    }
    if (key === 'tag' && minus === '') tagKeys.push(value);
    const before = key === undefined ? undefined : collected.lists.get(key === 'owner' ? 'createdBy' : key);
    if (before !== undefined && (minus === '' ? before.no : before.yes).length > 0) {
      faults.push({ token: text, reason: `${key} cannot both include and exclude` });
      continue;
    }
    const reason = reader(value, minus !== '', collected, now);
    if (reason !== undefined) faults.push({ token: text, reason });
  }
  const query: Record<string, unknown> = Object.fromEntries(collected.single);
  for (const [parameter, values] of collected.lists) {
    if (parameter === 'status') query[parameter] = values.yes;
    else if (parameter === 'tag' || parameter === 'segment') {
      query[parameter] = setFilter(values, parameter === 'segment' || tagKeys.length > 1);
    } else query[parameter] = valueFilter(values);
  }
  if (query['state'] !== undefined) query['state'] = `IS:${String(query['state'])}`;
  // A comma separates texts of which any matches; the words of a filter belong together.
  if (collected.texts.length > 0) query['query'] = collected.texts.join(' ').replaceAll(',', ' ').trim();
  return { query: query as SearchQuery, faults };
};

export interface Suggestion {
  readonly label: string;
  /** the filter with the suggestion in place of what is being typed */
  readonly filter: string;
  readonly caret: number;
}

export interface FilterVocabulary {
  readonly environments: readonly string[];
  readonly types: readonly string[];
  readonly projects: readonly string[];
  readonly tags: readonly string[];
  readonly segments: readonly string[];
}

const quoted = (value: string): string => (/\s/.test(value) ? `"${value}"` : value);

const valuesFor = (key: string, { environments, types, projects, tags, segments }: FilterVocabulary) => {
  if (environments.includes(key)) return ['on', 'off'];
  const known: Record<string, readonly string[]> = {
    type: types,
    project: projects,
    tag: tags,
    segment: segments,
    state: ['active', 'stale'],
    archived: ['true', 'false'],
    favourite: ['true', 'false'],
    created: ['<7d', '<30d', '>90d'],
    seen: ['<1d', '<7d', '>30d', '>90d'],
  };
  return known[key] ?? [];
};

const maxSuggestions = 8;

/** What could follow at the caret: keys, and then the values of a key. */
export const suggestionsFor = (filter: string, caret: number, vocabulary: FilterVocabulary): Suggestion[] => {
  const token = tokensOf(filter).find(({ start, end }) => start <= caret && caret <= end);
  const [start, end] = token === undefined ? [caret, caret] : [token.start, token.end];
  const typed = filter.slice(start, caret);
  const minus = typed.startsWith('-') ? '-' : '';
  const colon = typed.indexOf(':');
  const replace = (text: string): Pick<Suggestion, 'filter' | 'caret'> => ({
    filter: filter.slice(0, start) + text + filter.slice(end),
    caret: start + text.length,
  });
  if (colon < 0) {
    const word = typed.slice(minus.length).toLowerCase();
    return [...filterKeys, ...vocabulary.environments]
      .filter((key) => key.toLowerCase().startsWith(word))
      .slice(0, maxSuggestions)
      .map((key) => ({ label: `${minus}${key}:`, ...replace(`${minus}${key}:`) }));
  }
  const key = typed.slice(minus.length, colon);
  const before = typed.slice(colon + 1);
  const comma = before.lastIndexOf(',');
  const word = plain(before.slice(comma + 1)).toLowerCase();
  return valuesFor(key, vocabulary)
    .filter((value) => value.toLowerCase().includes(word) && value.toLowerCase() !== word)
    .slice(0, maxSuggestions)
    .map((value) => {
      const text = `${minus}${key}:${before.slice(0, comma + 1)}${quoted(value)}`;
      return { label: text, ...replace(`${text} `) };
    });
};
