import { formatCount } from '../text/format-number.ts';

/** One part of a filter. */
export interface FilterToken {
  readonly text: string;
  /** whether a minus before the key excludes what the value selects */
  readonly isNegated: boolean;
  /** the text before the colon, without the minus; undefined for a word without a colon */
  readonly key: string | undefined;
  /** the text after the colon, without quotes; without a key, all of the text */
  readonly value: string;
  /** the index of its first character in the filter */
  readonly start: number;
  /** the index after its last character */
  readonly end: number;
}

/** The text without quotes. */
export function unquoted(text: string): string {
  return text.replaceAll('"', '');
}

/** Splits a filter such as `type:release -tag:"two words" text` at blanks; quotes enclose a value with blanks. */
export function filterTokensOf(filter: string): FilterToken[] {
  return [...filter.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)].map(({ 0: text, index: start }) => {
    const [, minus = '', key, raw = text] = /^(-?)([^:"]+):(.*)$/s.exec(text) ?? [];
    return { text, isNegated: minus !== '', key, value: unquoted(raw), start, end: start + text.length };
  });
}

/** A token of a filter, or of a context of the playground, that cannot be applied, and the reason in words. */
export interface InvalidTextToken {
  readonly token: string;
  readonly reason: string;
}

export function unknownKeyText(key: string): string {
  return `${key} is not a filter key; put it into quotes to search for the text`;
}

const daysPerUnit = { d: 1, w: 7, m: 30, y: 365 } as const;

/** When and where a filter is read: `<7d` counts back from the reader's day. */
export interface ReaderClock {
  readonly now: Date;
  readonly timeZone: string;
}

/** The time zone of the reader. */
export function ownTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The day of an instant in a time zone, as in `2026-01-31`. */
export function dayIn(timeZone: string, instant: Date): string {
  const options = { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const {
    year = '',
    month = '',
    day = '',
  } = Object.fromEntries(
    new Intl.DateTimeFormat('en-US', options).formatToParts(instant).map(({ type, value }) => [type, value]),
  );
  return `${year}-${month}-${day}`;
}

/** A lower or upper limit for a date: a day of the calendar. */
interface DayBound {
  /** whether it selects that day and later ones; else it selects earlier ones */
  readonly isSince: boolean;
  /** as in `2026-01-31` */
  readonly day: string;
}

/** Reads `<7d` (in the last 7 days), `>4w` (longer ago), or `>2026-01-31` (on that day or later); undefined for anything else. */
export function readDayBound(value: string, now: Date, timeZone: string): DayBound | undefined {
  const [, sign, count, unit] = /^([<>])(\d{1,5})([dwmy])$/.exec(value) ?? [];
  if (sign !== undefined) {
    const daysAgo = Number(count) * daysPerUnit[unit as keyof typeof daysPerUnit];
    const date = new Date(Date.parse(dayIn(timeZone, now)) - daysAgo * 86_400_000);
    // The calendar of the server has years of four digits.
    return date.getUTCFullYear() < 1 ? undefined : { isSince: sign === '<', day: date.toISOString().slice(0, 10) };
  }
  const [, comparison, day = ''] = /^([<>])(\d{4}-\d{2}-\d{2})$/.exec(value) ?? [];
  return comparison === undefined || Number.isNaN(Date.parse(day)) ? undefined : { isSince: comparison === '>', day };
}

const unitWords: Readonly<Record<string, string>> = { d: 'day', w: 'week', m: 'month', y: 'year' };

/** A bound that `readDayBound` reads, or a day, in words; a day as the reader's browser writes it. */
export function dayWords(value: string): string {
  const isUp = value.startsWith('>');
  const [, count, unit = ''] = /^.(\d+)([dwmy])$/.exec(value) ?? [];
  if (count !== undefined) {
    const span = formatCount(Number(count), unitWords[unit] ?? '');
    return isUp ? `more than ${span} ago` : `in the last ${span.replace(/^1 /, '')}`;
  }
  const day = new Intl.DateTimeFormat(undefined, {
    numberingSystem: 'latn',
    dateStyle: 'medium',
    timeZone: 'UTC',
  }).format(new Date(value.replace(/^[<>]/, '')));
  return `${isUp ? 'since' : value.startsWith('<') ? 'before' : 'on'} ${day}`;
}

/** Parts of a filter that are applied, in words: what `production:partial` says, not a text that is searched. */
export interface FilterChip {
  readonly label: string;
  /** the tokens that say it, in their order in the filter */
  readonly tokens: readonly Pick<FilterToken, 'start' | 'end'>[];
}

/**
 * What the applied tokens of a filter say.
 * @param areAlternatives whether a token selects together with others of its key, which are then one part
 * @param labelOf the words for a token, which has the values of all that are one part with it
 */
export function chipsOf(
  applied: readonly FilterToken[],
  areAlternatives: (token: FilterToken) => boolean,
  labelOf: (token: FilterToken) => string,
): readonly FilterChip[] {
  const parts: (readonly [FilterToken, ...FilterToken[]])[] = [];
  for (const token of applied) {
    const at = areAlternatives(token)
      ? parts.findIndex(([first]) => first.key === token.key && areAlternatives(first))
      : -1;
    const part = parts[at];
    if (part === undefined) parts.push([token]);
    else parts[at] = [...part, token];
  }
  return parts.map((tokens) => {
    const values = tokens.flatMap(({ value }) => (tokens.length === 1 ? [value] : value.split(',')));
    return { label: labelOf({ ...tokens[0], value: [...new Set(values)].join(',') }), tokens };
  });
}

/** The filter without one of its parts. */
export function withoutChip(filter: string, { tokens }: FilterChip): string {
  return tokens
    .reduceRight((text, { start, end }) => `${text.slice(0, start).trimEnd()} ${text.slice(end).trimStart()}`, filter)
    .trim();
}
