/* How fuzzy searches see words. The SQL function `search_words` (src/migrations) splits names and tags in the same way. */

// Names of features are ASCII. In tags, each character beyond ASCII belongs to a word.
const separators = /[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+/;

/** A text with a space before each word that begins with a capital: `new Checkout HTTP Server` for `newCheckoutHTTPServer`. */
function splitCamelCase(text: string): string {
  return text.replace(/([A-Z])([A-Z][a-z])/g, '$1 $2').replace(/([a-z0-9])([A-Z])/g, '$1 $2');
}

/** The words of a text, as they are written there: `new` and `checkout` for `new-checkout`, `new_checkout` and `new.checkout`. */
export function splitWords(text: string): readonly string[] {
  return splitCamelCase(text)
    .split(separators)
    .filter((word) => word !== '');
}

/** How many typing errors are forgiven in a word. Numbers and short words are meant as they are typed. */
export function allowedTypos(word: string): 0 | 1 | 2 {
  if (word.length < 4 || /\d/.test(word)) return 0;
  return word.length < 8 ? 1 : 2;
}

/** The typing errors between what was typed and a word, and between it and the beginning of the word that is most like it. */
export interface Typos {
  readonly word: number;
  readonly beginning: number;
}

/**
 * Counts typing errors: letters that are missing, added or replaced, and neighbours that are exchanged (the optimal string alignment
 * distance).
 */
export function countTypos(typed: string, word: string): Typos {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: word.length + 1 }, (_, column) => column);
  for (let row = 1; row <= typed.length; row++) {
    const current = [row];
    for (let column = 1; column <= word.length; column++) {
      const isSame = typed[row - 1] === word[column - 1];
      const isExchanged =
        row > 1 && column > 1 && typed[row - 1] === word[column - 2] && typed[row - 2] === word[column - 1];
      current.push(
        Math.min(
          at(previous, column) + 1,
          at(current, column - 1) + 1,
          at(previous, column - 1) + (isSame ? 0 : 1),
          isExchanged ? at(beforePrevious, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    beforePrevious = previous;
    previous = current;
  }
  return { word: at(previous, word.length), beginning: Math.min(...previous) };
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

/** A word of features that may be meant by a typed one, and how many typing errors are between them. */
export interface Alternative {
  readonly word: string;
  readonly typos: number;
}

/** How many words may be meant by a typed one. */
const maxAlternatives = 100;

/**
 * Which of some words of features may be meant by a typed one, the likeliest first.
 * @param isLast whether it is the last typed word, which may be incomplete
 */
export function alternativesOf(typed: string, known: readonly string[], isLast: boolean): readonly Alternative[] {
  const allowed = allowedTypos(typed);
  return known
    .map((word) => {
      const typos = countTypos(typed, word);
      return { word, typos: isLast ? Math.min(typos.word, typos.beginning) : typos.word };
    })
    .filter(({ typos }) => typos <= allowed)
    .toSorted((one, other) => one.typos - other.typos || one.word.length - other.word.length)
    .slice(0, maxAlternatives);
}

/** The part of a name that matches a query: from `start` to before `end`, in characters. */
export interface MatchedRange {
  readonly start: number;
  readonly end: number;
}

/** The parts of a name that match what was typed, in their order, without overlaps. They are what a list of suggestions emphasises. */
export function matchedRanges(name: string, typedWords: readonly string[]): readonly MatchedRange[] {
  const folded = name.toLowerCase();
  const ranges: MatchedRange[] = [];
  for (const [nth, typed] of typedWords.entries()) {
    const exact = folded.indexOf(typed);
    if (exact >= 0) ranges.push({ start: exact, end: exact + typed.length });
    else ranges.push(...similarWord(name, typed, nth === typedWords.length - 1));
  }
  return withoutOverlaps(ranges);
}

/** The word of a name that is most like the typed one, if any is. */
function similarWord(name: string, typed: string, isLast: boolean): readonly MatchedRange[] {
  const words = splitWords(name);
  const [best] = alternativesOf(
    typed,
    words.map((word) => word.toLowerCase()),
    isLast,
  );
  if (best === undefined) return [];
  const start = name.toLowerCase().indexOf(best.word);
  return [{ start, end: start + best.word.length }];
}

function withoutOverlaps(ranges: readonly MatchedRange[]): readonly MatchedRange[] {
  const merged: MatchedRange[] = [];
  for (const range of ranges.toSorted((one, other) => one.start - other.start)) {
    const last = merged.at(-1);
    if (last === undefined || range.start > last.end) merged.push(range);
    else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, range.end) };
  }
  return merged;
}
