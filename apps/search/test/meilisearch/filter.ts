/** What the stand-in knows of Meilisearch's filters: the part of their grammar that search uses, parsed strictly. */

type Condition = (document: Readonly<Record<string, unknown>>) => boolean;

const token = /\s*(?:([A-Za-z_]\w*)|("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?)|([()[\],=]))/y;

function tokensOf(filter: string): string[] {
  const tokens: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < filter.trimEnd().length) {
    const match = token.exec(filter);
    if (match === null) throw new SyntaxError(`malformed filter: ${filter}`);
    tokens.push(match[0].trim());
  }
  return tokens;
}

/** As Meilisearch compares: texts without case and outer blanks, and texts that read as numbers with numbers, too. */
function normalized(value: unknown): string {
  return String(value).trim().normalize('NFKD').toLowerCase();
}

/**
 * Parses a filter: `field = value`, `field IN [values]`, NOT, AND, OR and parentheses.
 * @param fields those that the index allows
 * @param isKnown whether any document has ever had a field: a condition on an unknown one finds nothing
 * @throws SyntaxError for anything else
 */
export function parseFilter(filter: string, fields: readonly string[], isKnown: (field: string) => boolean): Condition {
  const tokens = tokensOf(filter);
  const take = (expected?: string): string => {
    const next = tokens.shift();
    if (next === undefined || (expected !== undefined && next !== expected))
      throw new SyntaxError(`expected ${expected ?? 'more'} in ${filter}, not ${next ?? 'its end'}`);
    return next;
  };
  const value = (): string => {
    const text = take();
    if (!/^["\d-]/.test(text)) throw new SyntaxError(`not a value: ${text}`);
    return normalized(JSON.parse(text));
  };
  const values = (): string[] => {
    const list: string[] = [];
    take('[');
    while (tokens[0] !== ']') {
      list.push(value());
      if (tokens[0] !== ']') take(',');
    }
    take(']');
    return list;
  };
  const comparison = (): Condition => {
    const field = take();
    if (!fields.includes(field)) throw new SyntaxError(`not filterable: ${field}`);
    const operator = take();
    if (operator !== 'IN' && operator !== '=') throw new SyntaxError(`unknown operator ${operator}`);
    const wanted = new Set(operator === 'IN' ? values() : [value()]);
    if (!isKnown(field)) return () => false;
    return (document) => [document[field]].flat().some((one) => one !== undefined && wanted.has(normalized(one)));
  };
  const primary = (): Condition => {
    if (tokens[0] === 'NOT') {
      take();
      const negated = primary();
      return (document) => !negated(document);
    }
    if (tokens[0] !== '(') return comparison();
    take();
    const inner = disjunction();
    take(')');
    return inner;
  };
  const conjunction = (): Condition => {
    const parts = [primary()];
    while (tokens[0] === 'AND') {
      take();
      parts.push(primary());
    }
    return (document) => parts.every((part) => part(document));
  };
  const disjunction = (): Condition => {
    const parts = [conjunction()];
    while (tokens[0] === 'OR') {
      take();
      parts.push(conjunction());
    }
    return (document) => parts.some((part) => part(document));
  };
  const parsed = disjunction();
  if (tokens.length > 0) throw new SyntaxError(`unexpected ${tokens[0] ?? ''} in ${filter}`);
  return parsed;
}
