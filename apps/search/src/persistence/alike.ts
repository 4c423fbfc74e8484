import type { Database } from '@bunting/database';
import { textSeparator, wordsOf } from '../query/fold.ts';
import { patternOf, type Place } from './conditions.ts';

/** A word that features have, and how alike it is to the one that was asked for: at most 1. */
interface Likeness {
  readonly word: string;
  readonly score: number;
}

interface AskedWord {
  readonly word: string;
  /** what it may be misspelt from; none of them contains it */
  readonly similar: readonly Likeness[];
  /** the words that contain it; undefined when that is only to be said by looking through the features */
  readonly containing: readonly string[] | undefined;
}

/** A text of a fuzzy query, with the words that its words may stand for. */
export interface AlikeText {
  readonly text: string;
  readonly words: readonly AskedWord[];
}

/** Texts, and at which state of the vocabulary their words were looked up. */
export interface AlikeTexts {
  readonly texts: readonly AlikeText[];
  /** undefined where no words were looked up */
  readonly vocabulary: number | undefined;
}

/** How many words of a text may be misspelt: the longest of them. The others have to be there as they are. */
const mostForgiven = 8;
const mostSimilar = 20;
const mostContaining = 100;
const swappedScore = 0.75;

// Two numbers that differ by a digit are no misspellings of one another, and short words are all alike.
const isForgiving = (word: string): boolean => word.length >= 3 && !/^[0-9]+$/.test(word);

const forgivenOf = (text: string): readonly string[] =>
  wordsOf(text)
    .filter(isForgiving)
    .toSorted((one, other) => other.length - one.length)
    .slice(0, mostForgiven);

/** The word with two neighbouring letters in each other's place. In a short word that leaves too few trigrams to be found by. */
const swapsOf = (word: string): readonly string[] => {
  const letters = [...word];
  return letters.slice(1).map((letter, at) =>
    letters
      .with(at, letter)
      .with(at + 1, letters[at] as string)
      .join(''),
  );
};

const wordsAlike = {
  name: 'words-alike',
  text: `
    select asked.word, (
      select coalesce(json_agg(found order by score desc, word), '[]') from (
        select word, greatest(similarity(word, asked.word), case when word = any(asked.swaps) then ${swappedScore} end) as score
        from feature_word
        where (word % asked.word or word = any(asked.swaps)) and strpos(word, asked.word) = 0
        order by score desc, word limit ${mostSimilar}
      ) as found
    ) as similar, (
      select array(select word from feature_word where word like asked.pattern limit ${mostContaining + 1})
    ) as containing, (select vocabulary from search_mark) as vocabulary
    from json_to_recordset($1::json) as asked (word text, pattern text, swaps text[])`,
};

interface FoundWord extends AskedWord {
  readonly containing: readonly string[];
  readonly vocabulary: number;
}

/** Looks up, in one statement, what the words of texts may stand for. */
export const alikeTexts = async (database: Database, texts: readonly string[]): Promise<AlikeTexts> => {
  const forgiven = new Set(texts.flatMap(forgivenOf));
  const asked = [...forgiven].map((word) => ({ word, pattern: patternOf(word), swaps: swapsOf(word) }));
  const found = asked.length === 0 ? [] : await database.read<FoundWord>(wordsAlike, [JSON.stringify(asked)]);
  const byWord = new Map(found.map((word) => [word.word, word]));
  return {
    vocabulary: found[0]?.vocabulary,
    texts: texts.map((text) => ({
      text,
      words: wordsOf(text).map((word) => {
        const { similar = [], containing } = byWord.get(word) ?? {};
        return {
          word,
          similar,
          containing: (containing?.length ?? Infinity) > mostContaining ? undefined : containing,
        };
      }),
    })),
  };
};

const wordCondition = ({ word, similar, containing }: AskedWord, place: Place): string => {
  const known = [...(containing ?? []), ...similar.map((likeness) => likeness.word)];
  const isOneOf = known.length === 0 ? [] : [`words && ${place(known, 'text[]')}`];
  const contains = containing === undefined ? [`search_text like ${place(patternOf(word), 'text')}`] : [];
  return [...contains, ...isOneOf].join(' or ') || 'false';
};

/** That each word of one of the texts is there, or one that it may stand for, in whatever order. */
export const alikeCondition = (texts: readonly AlikeText[], place: Place): string => {
  const each = texts.map(({ text, words }) =>
    words.length === 0
      ? `search_text like ${place(patternOf(text), 'text')}`
      : words.map((word) => `(${wordCondition(word, place)})`).join(' and '),
  );
  return `(${each.map((condition) => `(${condition})`).join(' or ')})`;
};

/**
 * How well a feature that is found fits the texts. A name that contains one fits best, the more so the less there is beside
 * it; then come tags that contain it, and then what is only alike, by how alike its words are.
 */
export const relevanceOf = (texts: readonly AlikeText[], place: Place): string => {
  const holds = (text: string): string => `strpos(search_text, ${place(text, 'text')}) > 0`;
  const score = ({ word, similar }: AskedWord): string =>
    `case when ${holds(word)} then 1 ${similar
      .map((likeness) => `when ${holds(likeness.word)} then ${place(likeness.score, 'float8')}`)
      .join(' ')} else 0 end`;
  const each = texts.map(({ text, words }) => {
    const inName = `strpos(split_part(search_text, ${place(textSeparator, 'text')}, 1), ${place(text, 'text')}) > 0`;
    const alike = words.length === 0 ? '0' : `(${words.map(score).join(' + ')}) / ${words.length}::float8`;
    return `case when ${inName} then 3 + ${place([...text].length, 'float8')} / length(name) when ${holds(text)} then 2 else ${alike} end`;
  });
  return `greatest(${each.join(', ')})`;
};
