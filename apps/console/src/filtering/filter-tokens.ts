interface FilterToken {
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
export const unquoted = (text: string): string => text.replaceAll('"', '');

/** Splits a filter such as `type:release -tag:"two words" text` at blanks; quotes enclose a value with blanks. */
export const filterTokensOf = (filter: string): FilterToken[] =>
  [...filter.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)].map(({ 0: text, index: start }) => {
    const [, minus = '', key, raw = text] = /^(-?)([^:"]+):(.*)$/s.exec(text) ?? [];
    return { text, isNegated: minus !== '', key, value: unquoted(raw), start, end: start + text.length };
  });
