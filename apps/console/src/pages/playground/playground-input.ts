import type { PlaygroundTableBody } from '@bunting/contracts';
import type { Suggestion } from '../../filtering/filter-suggestions.ts';
import type { InvalidTextToken } from '../../filtering/filter-tokens.ts';
import type { SearchParameters } from '../../filtering/search-parameter.ts';

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

function contextTokensOf(line: string): Token[] {
  return [...line.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)].map(({ 0: text, index: start }) => ({
    text,
    start,
    end: start + text.length,
  }));
}

function withoutQuotes(text: string): string {
  return text.replaceAll('"', '');
}

interface ParsedContext {
  readonly context: Readonly<Record<string, string>>;
  readonly errors: readonly InvalidTextToken[];
}

/** Reads a context such as `userId=a,b region=eu plan="pro plus"`. The server evaluates each of the values between commas. */
export function parseContext(line: string): ParsedContext {
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
}

function quote(value: string): string {
  return /\s/.test(value) ? `"${value}"` : value;
}
const maxSuggestions = 8;

/** The suggestions for the token at the caret of a context: names of fields or, after `=`, the legal values of the field. */
export function contextSuggestionsAt(line: string, caret: number, fields: readonly KnownField[]): Suggestion[] {
  const token = contextTokensOf(line).find(({ start, end }) => start <= caret && caret <= end);
  const [start, end] = token === undefined ? [caret, caret] : [token.start, token.end];
  const typed = line.slice(start, caret);
  const suggestion = (text: string): Suggestion => ({
    label: text,
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
}

/** A context in one line, in the form in which it is entered. */
export function contextLine(context: Readonly<Record<string, unknown>>): string {
  return Object.entries(context)
    .map(([name, value]) => `${name}=${quote(String(value))}`)
    .join(' ');
}

const maxContexts = 50;
const maxQueryLength = 100;

/** What is evaluated, as the search parameters of the URL choose it. */
export interface PlaygroundInput {
  readonly environments: readonly string[];
  /** empty for all projects */
  readonly projects: readonly string[];
  /** the only flag that is evaluated, if any */
  readonly flag: string | undefined;
  /** the change request whose effect is compared, if any */
  readonly changeRequest: number | undefined;
  /** whether only flags that the change request concerns are evaluated */
  readonly onlyConcerned: boolean;
}

function namesIn(value: string | undefined): string[] {
  return (value ?? '').split(',').filter((name) => name !== '');
}

/** The input that search parameters stand for. Without the parameter `environments`, it has every enabled environment. */
export function playgroundInputOf(search: SearchParameters, enabled: readonly string[]): PlaygroundInput {
  return {
    environments:
      search['environments'] === undefined
        ? enabled
        : enabled.filter((name) => namesIn(search['environments']).includes(name)),
    projects: namesIn(search['projects']),
    flag: search['flag'],
    changeRequest: /^[1-9]\d{0,9}$/.test(search['changeRequest'] ?? '') ? Number(search['changeRequest']) : undefined,
    onlyConcerned: search['concerned'] !== 'false',
  };
}

/** Whether only some flags are evaluated. Where none is left out, a result without flags says that there are none. */
export function leavesFlagsOut(input: PlaygroundInput, query: string): boolean {
  const { projects, flag, changeRequest, onlyConcerned } = input;
  const isOnlyOfRequest = changeRequest !== undefined && onlyConcerned;
  return query.trim() !== '' || projects.length > 0 || flag !== undefined || isOnlyOfRequest;
}

/** The request body that evaluates the input. @param query a part of the names of flags @param contexts one context on each line */
export function playgroundTableBody(input: PlaygroundInput, query: string, contexts: string): PlaygroundTableBody {
  const { environments, projects, flag, changeRequest, onlyConcerned } = input;
  const lines = contexts.split('\n').slice(0, maxContexts);
  const nonEmptyContexts = lines
    .map((line) => parseContext(line).context)
    .filter((context) => Object.keys(context).length > 0);
  const nameText = query.trim().slice(0, maxQueryLength);
  return {
    environments: [...environments],
    contexts: nonEmptyContexts.length === 0 ? [{}] : nonEmptyContexts,
    ...(projects.length === 0 ? {} : { projects: [...projects] }),
    ...(flag === undefined ? {} : { features: [flag] }),
    ...(nameText === '' ? {} : { query: nameText }),
    ...(changeRequest === undefined ? {} : { changeRequest, onlyConcerned: onlyConcerned && flag === undefined }),
  };
}

interface ResultsOfFlag {
  /** by environment, one result for each context; `proposed` is set only where the change request changes the result */
  readonly environments: Readonly<
    Record<string, readonly { readonly isEnabled: boolean; readonly proposed?: unknown }[]>
  >;
}

/** The number of results that the change request changes. */
export function countChangedResults(flags: readonly ResultsOfFlag[]): number {
  return flags
    .flatMap(({ environments }) => Object.values(environments).flat())
    .filter(({ proposed }) => proposed !== undefined).length;
}
