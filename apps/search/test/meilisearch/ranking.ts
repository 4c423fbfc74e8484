export type StoredDocument = Readonly<Record<string, unknown>>;

const word = /[\p{L}\p{N}]+/gu;
const mostWords = 10;

function tokensOf(text: string): string[] {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().match(word) ?? [];
}

/** The edit distance of two words: substitutions, insertions, deletions and transpositions of adjacent letters. */
function distance(one: string, other: string): number {
  const rows = Array.from({ length: one.length + 1 }, (_, row) =>
    Array.from({ length: other.length + 1 }, (__, column) => (row === 0 ? column : column === 0 ? row : 0)),
  );
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= one.length; row++) {
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1];
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      (rows[row] as number[])[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
        swapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
  }
  return at(one.length, other.length);
}

function allowedTypos(text: string): number {
  return text.length >= 9 ? 2 : text.length >= 5 ? 1 : 0;
}

function typosOf(queryWords: string, tokens: readonly string[], isPrefix: boolean): number | undefined {
  const allowed = allowedTypos(queryWords);
  let fewest: number | undefined;
  for (const token of tokens) {
    const looked = isPrefix && token.length > queryWords.length ? token.slice(0, queryWords.length) : token;
    if (looked !== queryWords && (allowed === 0 || Math.abs(looked.length - queryWords.length) > allowed)) continue;
    const typos = looked === queryWords ? 0 : distance(queryWords, looked);
    if (typos <= allowed && (fewest === undefined || typos < fewest)) fewest = typos;
  }
  return fewest;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap(textsOf) : typeof value === 'string' ? [value] : [];
}

/** The sum of the typing errors with which a document contains the words of a query; undefined if it does not contain one of them. */
export function rankOf(q: string, document: StoredDocument, searchable: readonly string[]): number | undefined {
  const queryWords = tokensOf(q).slice(0, mostWords);
  const tokens = searchable.flatMap((field) => textsOf(document[field]).flatMap(tokensOf));
  let typos = 0;
  for (const [at, each] of queryWords.entries()) {
    const fewest = typosOf(each, tokens, at === queryWords.length - 1);
    if (fewest === undefined) return undefined;
    typos += fewest;
  }
  return typos;
}
