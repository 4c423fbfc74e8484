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
