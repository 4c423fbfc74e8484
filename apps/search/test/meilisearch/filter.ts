import { type Facet, normalized } from './facets.ts';

/** A filter, or a sort, that Meilisearch would refuse. */
export class RefusedQuery extends Error {}

export type Facets = ReadonlyMap<string, Facet>;
export type Condition = (facets: Facets) => boolean;

/** What a filter is read against. */
export interface FilterContext {
  /** whether the field may be filtered by, or compared */
  readonly allows: (field: string, comparison: boolean) => boolean;
  /** whether any document ever had the field */
  readonly isKnown: (field: string) => boolean;
}

interface Token {
  readonly text: string;
  readonly kind: 'word' | 'quoted' | 'sign';
}

const space = /[\s]/;
const wordCharacter = /[\p{L}\p{N}_.-]/u;
const signs = ['!=', '>=', '<=', '=', '>', '<', '(', ')', '[', ']', ','];
const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

const tokensOf = (text: string): Token[] => {
  const tokens: Token[] = [];
  let at = 0;
  const quotedFrom = (quote: string): void => {
    let value = '';
    for (at++; text[at] !== quote; at++) {
      if (at >= text.length) throw new RefusedQuery('Expression is missing the closing quote.');
      if (text[at] !== '\\') {
        value += text[at];
        continue;
      }
      const escape = text[++at] ?? '';
      if (escape === 'u') {
        value += String.fromCharCode(Number.parseInt(text.slice(at + 1, at + 5), 16));
        at += 4;
      } else value += escapes[escape] ?? escape;
    }
    at++;
    if (!value.isWellFormed()) throw new RefusedQuery('Malformed value.');
    tokens.push({ text: value, kind: 'quoted' });
  };
  while (at < text.length) {
    const character = text[at] as string;
    const sign = signs.find((each) => text.startsWith(each, at));
    if (space.test(character)) at++;
    else if (character === '"' || character === "'") quotedFrom(character);
    else if (sign !== undefined) {
      tokens.push({ text: sign, kind: 'sign' });
      at += sign.length;
    } else {
      let word = '';
      for (const each of text.slice(at)) {
        if (!wordCharacter.test(each)) break;
        word += each;
      }
      if (word === '') throw new RefusedQuery(`Unexpected character: \`${character}\`.`);
      tokens.push({ text: word, kind: 'word' });
      at += word.length;
    }
  }
  return tokens;
};

const keywords = ['AND', 'OR', 'NOT', 'IN', 'EXISTS', 'IS', 'NULL', 'EMPTY', 'TO', 'STARTS', 'WITH', 'CONTAINS'];
const deepest = 36;
const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** Whether a value equals one of the operands, as text or as a number. */
const equalTo = (operands: readonly string[]): ((facet: Facet) => boolean) => {
  const strings = new Set(operands.map(normalized));
  const numbers = new Set(operands.filter((operand) => isNumber.test(operand)).map(Number));
  return (facet) =>
    facet.strings.some((text) => strings.has(text)) || facet.numbers.some((number) => numbers.has(number));
};

const compares = (facet: Facet, sign: string, operand: string): boolean => {
  const holds = (order: number): boolean =>
    sign === '>' ? order > 0 : sign === '>=' ? order >= 0 : sign === '<' ? order < 0 : order <= 0;
  if (isNumber.test(operand)) return facet.numbers.some((number) => holds(number - Number(operand)));
  const wanted = Buffer.from(normalized(operand));
  return facet.strings.some((text) => holds(Buffer.compare(Buffer.from(text), wanted)));
};

const read = (text: string, context: FilterContext): Condition => {
  const tokens = tokensOf(text);
  let at = 0;
  const peek = (): Token | undefined => tokens[at];
  const isWord = (word: string, token = peek()): boolean => token?.kind === 'word' && token.text === word;
  const isSign = (sign: string, token = peek()): boolean => token?.kind === 'sign' && token.text === sign;
  const takes = (is: boolean): boolean => {
    if (is) at++;
    return is;
  };
  const value = (): string => {
    const token = tokens[at++];
    if (token === undefined || token.kind === 'sign' || (token.kind === 'word' && keywords.includes(token.text)))
      throw new RefusedQuery(`Was expecting a value but instead got \`${token?.text ?? 'nothing'}\`.`);
    return token.text;
  };
  const need = (is: boolean, what: string): void => {
    if (!takes(is)) throw new RefusedQuery(`Was expecting ${what} but got \`${peek()?.text ?? 'nothing'}\`.`);
  };

  const operator = (field: string): ((facet: Facet | undefined) => boolean) => {
    const sign = peek();
    if (sign?.kind === 'sign' && ['=', '!=', '>', '>=', '<', '<='].includes(sign.text)) {
      at++;
      const operand = value();
      const equals = equalTo([operand]);
      if (sign.text === '=') return (facet) => facet !== undefined && equals(facet);
      if (sign.text === '!=') return (facet) => facet === undefined || !equals(facet);
      if (!context.allows(field, true))
        throw new RefusedQuery(`Attribute \`${field}\` is not comparable: operator \`${sign.text}\` is not allowed.`);
      return (facet) => facet !== undefined && compares(facet, sign.text, operand);
    }
    if (takes(isWord('EXISTS'))) return (facet) => facet !== undefined;
    if (takes(isWord('IN'))) {
      need(isSign('['), '`[`');
      const operands: string[] = [];
      while (!isSign(']')) {
        operands.push(value());
        if (!takes(isSign(','))) break;
      }
      need(isSign(']'), '`]`');
      const equals = equalTo(operands);
      return (facet) => facet !== undefined && equals(facet);
    }
    if (takes(isWord('IS'))) {
      const negated = takes(isWord('NOT'));
      const wanted = isWord('NULL') ? 'isNull' : 'isEmpty';
      need(isWord('NULL') || isWord('EMPTY'), '`NULL` or `EMPTY`');
      return (facet) => (facet?.[wanted] ?? false) !== negated;
    }
    if (takes(isWord('STARTS'))) {
      need(isWord('WITH'), '`WITH`');
      const operand = normalized(value());
      return (facet) => facet?.strings.some((each) => each.startsWith(operand)) ?? false;
    }
    if (isWord('CONTAINS')) throw new RefusedQuery('feature_not_enabled');
    throw new RefusedQuery(`Was expecting an operation after \`${field}\`.`);
  };

  const condition = (): Condition => {
    const field = value();
    if (!context.allows(field, false)) throw new RefusedQuery(`Attribute \`${field}\` is not filterable.`);
    const negated = takes(isWord('NOT'));
    const holds = operator(field);
    // A field that no document ever had matches nothing, whatever is asked of it.
    const is: Condition = (facets) => context.isKnown(field) && holds(facets.get(field));
    return negated ? (facets) => !is(facets) : is;
  };
  const primary = (depth: number): Condition => {
    if (depth > deepest) throw new RefusedQuery('The filter exceeded the maximum depth limit.');
    if (takes(isWord('NOT'))) {
      const inner = primary(depth);
      return (facets) => !inner(facets);
    }
    if (!takes(isSign('('))) return condition();
    const inner = any(depth + 1);
    need(isSign(')'), '`)`');
    return inner;
  };
  const several = (word: string, one: (depth: number) => Condition, depth: number): Condition[] => {
    const found = [one(depth)];
    while (takes(isWord(word))) found.push(one(depth));
    return found;
  };
  const all = (depth: number): Condition => {
    const each = several('AND', primary, depth);
    return (facets) => each.every((holds) => holds(facets));
  };
  const any = (depth: number): Condition => {
    const each = several('OR', all, depth);
    return (facets) => each.some((holds) => holds(facets));
  };

  const whole = any(0);
  if (peek() !== undefined) throw new RefusedQuery(`Found unexpected characters at the end: \`${peek()?.text}\`.`);
  return whole;
};

/** A filter in either of its forms: text, or a list of texts and lists of texts, whose outer level is AND and whose inner is OR. */
export const readFilter = (filter: unknown, context: FilterContext): Condition => {
  if (filter === undefined || filter === null) return () => true;
  if (typeof filter === 'string') return filter.trim() === '' ? () => true : read(filter, context);
  if (!Array.isArray(filter)) throw new RefusedQuery('Invalid syntax for the filter parameter.');
  const each = filter.map((part: unknown): Condition => {
    if (!Array.isArray(part)) return readFilter(part, context);
    const some = part.map((inner: unknown) => {
      if (typeof inner !== 'string') throw new RefusedQuery('Invalid syntax for the filter parameter.');
      return readFilter(inner, context);
    });
    return some.length === 0 ? () => true : (facets) => some.some((holds) => holds(facets));
  });
  return (facets) => each.every((holds) => holds(facets));
};
