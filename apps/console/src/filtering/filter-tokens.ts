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

/** The text without quotes. */
export const unquoted = (text: string): string => text.replaceAll('"', '');

/** Splits a filter such as `type:release -tag:"two words" text` at blanks; quotes enclose a value with blanks. */
export const filterTokensOf = (filter: string): FilterToken[] =>
  [...filter.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)].map(({ 0: text, index: start }) => {
    const [, minus = '', key, raw = text] = /^(-?)([^:"]+):(.*)$/s.exec(text) ?? [];
    return { text, isNot: minus !== '', key, value: unquoted(raw), start, end: start + text.length };
  });
