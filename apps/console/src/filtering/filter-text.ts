/** A part of a filter that means nothing, and why. */
export interface FilterFault {
  readonly token: string;
  readonly reason: string;
}

export interface FilterToken {
  readonly text: string;
  /** whether it begins with a minus */
  readonly isNot: boolean;
  /** what is before its colon; undefined for a word without a key */
  readonly key: string | undefined;
  /** what is behind the colon, without quotes; the whole word without a key */
  readonly value: string;
  /** where it begins in the filter */
  readonly start: number;
  readonly end: number;
}

const plain = (text: string): string => text.replaceAll('"', '');

/** Splits a filter such as `type:release -tag:"two words" text` at blanks; quotes enclose a value with blanks. */
export const filterTokensOf = (filter: string): FilterToken[] =>
  [...filter.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)].map(({ 0: text, index: start }) => {
    const [, minus = '', key, raw = text] = /^(-?)([^:"]+):(.*)$/s.exec(text) ?? [];
    return { text, isNot: minus !== '', key, value: plain(raw), start, end: start + text.length };
  });

const days = { d: 1, w: 7, m: 30, y: 365 } as const;

/** One side of a day of the calendar, in UTC. */
export interface DayBound {
  /** on that day or later, else before it */
  readonly isSince: boolean;
  readonly day: string;
}

/** Reads `<7d` (in the last 7 days), `>4w` (longer ago), or `>2026-01-31` (on that day or later); undefined for anything else. */
export const readDayBound = (value: string, now: Date): DayBound | undefined => {
  const [, sign, count, unit] = /^([<>])(\d{1,5})([dwmy])$/.exec(value) ?? [];
  if (sign !== undefined) {
    const back = Number(count) * days[unit as keyof typeof days];
    return {
      isSince: sign === '<',
      day: new Date(now.getTime() - back * 86_400_000).toISOString().slice(0, 10),
    };
  }
  const [, side, day = ''] = /^([<>])(\d{4}-\d{2}-\d{2})$/.exec(value) ?? [];
  return side === undefined || Number.isNaN(Date.parse(day)) ? undefined : { isSince: side === '>', day };
};

export interface Suggestion {
  readonly label: string;
  /** the filter in which the suggestion replaces the token at the caret */
  readonly filter: string;
  readonly caret: number;
}

const quote = (value: string): string => (/\s/.test(value) ? `"${value}"` : value);
const maxSuggestions = 8;

/** What could follow at the caret: keys, and then the values of a key. */
export const suggestionsAt = (
  filter: string,
  caret: number,
  keys: readonly string[],
  valuesOf: (key: string) => readonly string[],
): Suggestion[] => {
  const token = filterTokensOf(filter).find(({ start, end }) => start <= caret && caret <= end);
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
    return keys
      .filter((key) => key.toLowerCase().startsWith(word))
      .slice(0, maxSuggestions)
      .map((key) => ({ label: `${minus}${key}:`, ...replace(`${minus}${key}:`) }));
  }
  const key = typed.slice(minus.length, colon);
  const before = typed.slice(colon + 1);
  const comma = before.lastIndexOf(',');
  const word = plain(before.slice(comma + 1)).toLowerCase();
  return valuesOf(key)
    .filter((value) => value.toLowerCase().includes(word) && value.toLowerCase() !== word)
    .slice(0, maxSuggestions)
    .map((value) => {
      const text = `${minus}${key}:${before.slice(0, comma + 1)}${quote(value)}`;
      return { label: text, ...replace(`${text} `) };
    });
};
