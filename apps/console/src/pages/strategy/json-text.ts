type JsonTokenKind = 'string' | 'literal' | 'sign' | 'blank' | 'fault';

export interface JsonToken {
  readonly kind: JsonTokenKind;
  readonly text: string;
  /** where it begins in the text */
  readonly at: number;
}

// A string ends with its line at the latest, so that the lines of a text can be split by themselves.
const tokenPattern = /"(?:[^"\\\n]|\\.)*"?|[{}[\],:]|\s+|[^\s{}[\],:"]+/g;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function kindOf(text: string): JsonTokenKind {
  if (/^\s/.test(text)) return 'blank';
  if (/^[{}[\],:]$/.test(text)) return 'sign';
  if (!isJson(text)) return 'fault';
  return text.startsWith('"') ? 'string' : 'literal';
}

/** Splits a text that may be JSON, or a line of it, into its tokens; together they are the text. */
export function jsonTokens(text: string): readonly JsonToken[] {
  return Array.from(text.matchAll(tokenPattern), ({ 0: token, index }) => ({
    kind: kindOf(token),
    text: token,
    at: index,
  }));
}

/** Where a text stops being JSON: the offset of the first token that may not stand there, or the end; undefined if it is JSON. */
export function jsonFaultAt(tokens: readonly JsonToken[]): number | undefined {
  const open: string[] = [];
  let expected: 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'comma' | 'nothing' = 'value';
  const afterValue = (): typeof expected => (open.length === 0 ? 'nothing' : 'comma');
  for (const { kind, text, at } of tokens) {
    if (kind === 'blank') continue;
    const isScalar = kind === 'string' || kind === 'literal';
    if (/value$/.test(expected) && isScalar) expected = afterValue();
    else if (/value$/.test(expected) && (text === '{' || text === '[')) {
      open.push(text);
      expected = text === '{' ? 'first key' : 'first value';
    } else if (/key$/.test(expected) && kind === 'string') expected = 'colon';
    else if (expected === 'colon' && text === ':') expected = 'value';
    else if (expected === 'comma' && text === ',') expected = open.at(-1) === '{' ? 'key' : 'value';
    else if ((expected === 'comma' || expected.startsWith('first')) && text === (open.at(-1) === '{' ? '}' : ']')) {
      open.pop();
      expected = afterValue();
    } else return at;
  }
  const last = tokens.at(-1);
  return expected === 'nothing' ? undefined : (last?.at ?? 0) + (last?.text.length ?? 0);
}

/** The offsets of the bracket beside the cursor and of its partner; undefined where no bracket is there, or it has none. */
export function matchingBrackets(tokens: readonly JsonToken[], cursor: number): readonly [number, number] | undefined {
  const brackets = tokens.filter(({ text }) => /^[{}[\]]$/.test(text));
  const nth = brackets.findIndex(({ at }) => at === cursor || at === cursor - 1);
  const bracket = brackets[nth];
  if (bracket === undefined) return undefined;
  const step = bracket.text === '{' || bracket.text === '[' ? 1 : -1;
  let depth = 0;
  for (let index = nth; index >= 0 && index < brackets.length; index += step) {
    const { text, at } = brackets[index] as JsonToken;
    depth += text === '{' || text === '[' ? step : -step;
    if (depth === 0) return [bracket.at, at];
  }
  return undefined;
}

/** The line and the column of an offset, both counted from 1. */
export function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
