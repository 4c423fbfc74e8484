import type { InvalidTextToken } from '../../filtering/invalid-text-token.ts';
import type { Suggestion } from '../../filtering/filter-suggestions.ts';

/** A context field with its legal values; without any, all values are legal. */
interface KnownField {
  readonly name: string;
  readonly legalValues: readonly string[];
}

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const contextTokensOf = (line: string): Token[] =>
  [...line.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)].map(({ 0: text, index: start }) => ({
    text,
    start,
    end: start + text.length,
  }));

const withoutQuotes = (text: string): string => text.replaceAll('"', '');

interface ParsedContext {
  readonly context: Readonly<Record<string, string>>;
  readonly errors: readonly InvalidTextToken[];
}

/** Reads a context such as `userId=a,b region=eu plan="pro plus"`. The server evaluates each of the values between commas. */
export const parseContext = (line: string): ParsedContext => {
  const entries: [string, string][] = [];
  const errors: InvalidTextToken[] = [];
  for (const { text } of contextTokensOf(line)) {
    const equalsIndex = text.indexOf('=');
    const [name, value] = [text.slice(0, equalsIndex), withoutQuotes(text.slice(equalsIndex + 1))];
    if (equalsIndex < 1) errors.push({ token: text, reason: 'write it as name=value' });
    else if (value === '') errors.push({ token: text, reason: 'a value is missing' });
    else if (entries.some(([other]) => other === name))
      errors.push({ token: text, reason: `${name} is given twice; write ${name}=a,b` });
    else entries.push([name, value]);
  }
  return { context: Object.fromEntries(entries), errors };
};

const quote = (value: string): string => (/\s/.test(value) ? `"${value}"` : value);
const maxSuggestions = 8;

/** The suggestions for the token at the caret of a context: names of fields or, after `=`, the legal values of the field. */
export const contextSuggestionsAt = (line: string, caret: number, fields: readonly KnownField[]): Suggestion[] => {
  const token = contextTokensOf(line).find(({ start, end }) => start <= caret && caret <= end);
  const [start, end] = token === undefined ? [caret, caret] : [token.start, token.end];
  const typed = line.slice(start, caret);
  const suggestion = (text: string, label = text): Suggestion => ({
    label,
    filter: line.slice(0, start) + text + line.slice(end),
    caret: start + text.length,
  });
  const equalsIndex = typed.indexOf('=');
  if (equalsIndex < 0) {
    const word = typed.toLowerCase();
    const presentNames = new Set(contextTokensOf(line).map(({ text }) => text.split('=')[0]));
    return fields
      .filter(({ name }) => name.toLowerCase().startsWith(word) && !presentNames.has(name))
      .slice(0, maxSuggestions)
      .map(({ name }) => suggestion(`${name}=`));
  }
  const keptText = typed.slice(0, typed.lastIndexOf(',') + 1 || equalsIndex + 1);
  const word = withoutQuotes(typed.slice(keptText.length)).toLowerCase();
  const legalValues = fields.find(({ name }) => name === typed.slice(0, equalsIndex))?.legalValues ?? [];
  return legalValues
    .filter((value) => value.toLowerCase().includes(word) && value.toLowerCase() !== word)
    .slice(0, maxSuggestions)
    .map((value) => suggestion(`${keptText}${quote(value)}`));
};

/** A context in one line, in the form in which it is entered. */
export const contextLine = (context: Readonly<Record<string, unknown>>): string =>
  Object.entries(context)
    .map(([name, value]) => `${name}=${quote(String(value))}`)
    .join(' ');
