import { filterTokensOf, unquoted } from './filter-tokens.ts';

export interface Suggestion {
  readonly label: string;
  /** the filter in which the suggestion replaces the token at the caret */
  readonly filter: string;
  readonly caret: number;
  /** how much is found with it */
  readonly count?: number;
}

function quote(value: string): string {
  return /\s/.test(value) ? `"${value}"` : value;
}
const maxSuggestions = 8;

/** The suggestions for the token at the caret: keys or, after a colon, the values of its key. */
export function suggestionsAt(
  filter: string,
  caret: number,
  keys: readonly string[],
  valuesOf: (key: string) => readonly string[],
  countOf?: (key: string, value: string) => number | undefined,
): Suggestion[] {
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
    const prefix = typed.slice(minus.length).toLowerCase();
    return keys
      .filter((key) => key.toLowerCase().startsWith(prefix))
      .slice(0, maxSuggestions)
      .map((key) => ({ label: `${minus}${key}:`, ...replace(`${minus}${key}:`) }));
  }
  const key = typed.slice(minus.length, colon);
  const typedValues = typed.slice(colon + 1);
  const comma = typedValues.lastIndexOf(',');
  const search = unquoted(typedValues.slice(comma + 1)).toLowerCase();
  return valuesOf(key)
    .filter((value) => value.toLowerCase().includes(search) && value.toLowerCase() !== search)
    .slice(0, maxSuggestions)
    .map((value) => {
      const text = `${minus}${key}:${typedValues.slice(0, comma + 1)}${quote(value)}`;
      const count = countOf?.(key, value);
      return { label: text, ...replace(`${text} `), ...(count === undefined ? {} : { count }) };
    });
}
