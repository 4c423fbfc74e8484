import type { Database } from '@bunting/database';
import { wordsOf } from '../query/fold.ts';
import { likeText, patternOf, type Place } from './conditions.ts';

/** A text that names or tags are to contain, and the words that tell where it may be. */
export interface SoughtText {
  readonly text: string;
  /** every feature that has the text has one word of each of these; empty where words say nothing of it */
  readonly words: readonly (readonly string[])[];
  /** whether every feature that does has the text */
  readonly isEnough: boolean;
}

/** Texts, and at which state of the vocabulary their words were looked up: later features may have words that nobody had. */
export interface SoughtTexts {
  readonly texts: readonly SoughtText[];
  readonly vocabulary: number;
}

/** More words than these are no help, nor is it one to look up the words of so many texts. */
const mostWords = 100;
const mostTexts = 8;
const mostLookedUp = 4;
/** What is shorter has no trigram that words are found by. */
const shortest = 3;

interface Lookup {
  readonly text: number;
  readonly pattern: string;
}

/** Patterns for the words that a text is made of. Those at its ends may be parts of longer ones; the longest tell most. */
const lookupsOf = (text: string, nth: number): readonly Lookup[] => {
  const words = wordsOf(text);
  return words
    .filter((word) => word.length >= shortest)
    .toSorted((one, other) => other.length - one.length)
    .slice(0, mostLookedUp)
    .map((word) => ({
      text: nth,
      pattern: `${text.startsWith(word) ? '%' : ''}${likeText(word)}${text.endsWith(word) ? '%' : ''}`,
    }));
};

const soughtWords = {
  name: 'sought-words',
  text: `
    select (select vocabulary from search_mark) as vocabulary, (
      select coalesce(json_agg(json_build_object('text', asked.text, 'words', found.words)), '[]')
      from json_to_recordset($1::json) as asked (text integer, pattern text) cross join lateral (
        select coalesce(json_agg(word), '[]') as words from (
          select word from feature_word where word like asked.pattern limit ${mostWords + 1}) as word
      ) as found) as found`,
};

interface Found {
  readonly text: number;
  readonly words: readonly string[];
}

/** Looks up, in one statement, by which words texts are found; undefined where that would say nothing. */
export const soughtTexts = async (database: Database, texts: readonly string[]): Promise<SoughtTexts | undefined> => {
  const lookups = texts.length > mostTexts ? [] : texts.flatMap(lookupsOf);
  if (lookups.length === 0) return undefined;
  const [row] = await database.read<{ vocabulary: number; found: readonly Found[] }>(soughtWords, [
    JSON.stringify(lookups),
  ]);
  if (row === undefined) throw new Error('The search tables have no mark.');
  const telling = row.found.filter(({ words }) => words.length <= mostWords);
  return {
    vocabulary: row.vocabulary,
    texts: texts.map((text, nth) => {
      const words = telling.filter((found) => found.text === nth).map((found) => found.words);
      return { text, words, isEnough: words.length > 0 && wordsOf(text)[0] === text };
    }),
  };
};

/** That one of the texts is there. What words tell is not looked for in the text again, or not by an index. */
export const soughtCondition = (texts: readonly SoughtText[], place: Place): string => {
  const unknown = texts.flatMap(({ text, words }) => (words.length === 0 ? [patternOf(text)] : []));
  const enough = texts.flatMap(({ words, isEnough }) => (isEnough ? words.flat() : []));
  const either = texts
    .filter(({ words, isEnough }) => !isEnough && words.length > 0 && words.every((some) => some.length > 0))
    .map(({ text, words }) => {
      const has = words.map((some) => `words && ${place(some, 'text[]')}`);
      return `(${[...has, `strpos(search_text, ${place(text, 'text')}) > 0`].join(' and ')})`;
    });
  if (enough.length > 0) either.push(`words && ${place([...new Set(enough)], 'text[]')}`);
  if (unknown.length > 0) either.push(`search_text like any(${place(unknown, 'text[]')})`);
  return either.length === 0 ? 'false' : `(${either.join(' or ')})`;
};
