import { invalid, isObjectSchema, requireStorableText } from '@bunting/contracts';
import type { TSchema } from 'typebox';

type Query = Record<string, string | string[]>;

const decoded = (text: string, name: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalid(`The \`/query/${name}\` property must be well-formed percent-encoded UTF-8.`, `/query/${name}`);
  }
};

/** The name of a parameter, where it can be read at all: a name that cannot is one that nobody asked for. */
const decodedName = (text: string): string | undefined => {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/**
 * Reads the query of an operation: of all that it holds just what the contract knows, or all of it where the contract takes
 * whatever comes, decoded once. A list takes every `name=` and `name[]=`; anything else that is repeated becomes a list as
 * well, which its schema then refuses.
 */
export const queryParser = (schema: TSchema): ((search: string) => Query) => {
  const properties = isObjectSchema(schema) ? Object.entries(schema.properties) : [];
  const known = new Map<string, { name: string; isList: boolean }>();
  for (const [name, property] of properties) {
    const isList = (property as { type?: unknown }).type === 'array';
    known.set(name, { name, isList });
    if (isList) known.set(`${name}[]`, { name, isList });
  }
  const takesAny = typeof (schema as { additionalProperties?: unknown }).additionalProperties === 'object';
  if (known.size === 0 && !takesAny) return () => ({});
  const parameterOf = (given: string) =>
    known.get(given) ?? (takesAny && given !== '__proto__' ? { name: given, isList: false } : undefined);

  return (search) => {
    const query: Query = {};
    if (search === '') return query;
    for (const pair of search.split('&')) {
      const equals = pair.indexOf('=');
      const given = decodedName(equals < 0 ? pair : pair.slice(0, equals));
      const parameter = given === undefined ? undefined : parameterOf(given);
      if (parameter === undefined) continue;
      const { name, isList } = parameter;
      const value = equals < 0 ? '' : decoded(pair.slice(equals + 1), name);
      const before = Object.hasOwn(query, name) ? query[name] : undefined;
      if (Array.isArray(before)) before.push(value);
      else if (before !== undefined) query[name] = [before, value];
      else query[name] = isList ? [value] : value;
    }
    requireStorableText(query, '/query');
    return query;
  };
};
