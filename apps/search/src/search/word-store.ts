import { prepared, type ReadDatabase } from '@bunting/database';
import { allowedTypos, alternativesOf } from './words.ts';

const selectWordsLike = prepared(`
  select array(
    select word from search_word where word = typed.text
    union select word from similar_words(typed.text) where may_be_wrong
    union (
      select word from search_word
      where is_last and word >= typed.text and word < typed.text || U&'\\+10FFFF' order by word limit 100
    )
  ) as words
  from unnest($1::text[], $2::boolean[], $3::boolean[]) with ordinality as typed (text, may_be_wrong, is_last, nth)
  order by nth`);

/** Reads which words of features the words of some texts may mean: for each text, for each of its words, the alternatives. */
export async function readAlternatives(
  database: ReadDatabase,
  texts: readonly (readonly string[])[],
): Promise<readonly (readonly (readonly string[])[])[]> {
  const typed = texts.flatMap((words) => words.map((word, nth) => ({ word, isLast: nth === words.length - 1 })));
  if (typed.length === 0) return texts.map(() => []);
  const rows = await database.read<{ words: string[] }>(selectWordsLike, [
    typed.map(({ word }) => word),
    typed.map(({ word }) => allowedTypos(word) > 0),
    typed.map(({ isLast }) => isLast),
  ]);
  const alternatives = rows.map(({ words }, nth) => {
    const { word, isLast } = typed[nth] as (typeof typed)[number];
    return alternativesOf(word, words, isLast).map((alternative) => alternative.word);
  });
  return texts.map((words) => alternatives.splice(0, words.length));
}
