import { type HttpBinding, invalid, isObjectSchema, requireStorableText } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import type { IncomingHttpHeaders } from 'node:http';
import type { TSchema } from 'typebox';
import { requireDecimalIntegers } from './decimal-integers.ts';

type Query = Record<string, string | string[]>;

const decode = (text: string, name: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalid(`The \`/query/${name}\` property must be well-formed percent-encoded UTF-8.`, `/query/${name}`);
  }
};

/** The decoded name of a parameter; undefined for a malformed one, which no contract can have. */
const decodedName = (text: string): string | undefined => {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/**
 * Parses the query of an operation, decoding it once: the parameters of its contract, or all of them where the contract has additional
 * properties. A list takes every `name=` and `name[]=`; any other repeated parameter becomes a list too, which its schema then rejects.
 */
export const queryParser = (schema: TSchema): ((search: string) => Query) => {
  const properties = isObjectSchema(schema) ? Object.entries(schema.properties) : [];
  const parameters = new Map<string, { name: string; isList: boolean }>();
  for (const [name, property] of properties) {
    const isList = (property as { type?: unknown }).type === 'array';
    parameters.set(name, { name, isList });
    if (isList) parameters.set(`${name}[]`, { name, isList });
  }
  const acceptsAnyName = typeof (schema as { additionalProperties?: unknown }).additionalProperties === 'object';
  if (parameters.size === 0 && !acceptsAnyName) return () => ({});
  const parameterOf = (requestedName: string) =>
    parameters.get(requestedName) ??
    (acceptsAnyName && requestedName !== '__proto__' ? { name: requestedName, isList: false } : undefined);

  return (search) => {
    const query: Query = {};
    if (search === '') return query;
    for (const pair of search.split('&')) {
      const equals = pair.indexOf('=');
      const requestedName = decodedName(equals < 0 ? pair : pair.slice(0, equals));
      const parameter = requestedName === undefined ? undefined : parameterOf(requestedName);
      if (parameter === undefined) continue;
      const { name, isList } = parameter;
      const value = equals < 0 ? '' : decode(pair.slice(equals + 1), name);
      const previous = Object.hasOwn(query, name) ? query[name] : undefined;
      if (Array.isArray(previous)) previous.push(value);
      else if (previous !== undefined) query[name] = [previous, value];
      else query[name] = isList ? [value] : value;
    }
    requireStorableText(query, '/query');
    return query;
  };
};

/** The parts of a request that provide query parameters of an operation. */
interface RequestWithQuery {
  readonly headers: IncomingHttpHeaders;
  /** `{ search }`: the raw query */
  readonly query: unknown;
  readonly ip: string;
}

/** Parses the query, with those parameters that the contract takes from headers or from the client address instead. */
export const queryAndHeadersParser = (
  schema: TSchema,
  { headers: headerNames = {}, address }: HttpBinding,
): ((request: RequestWithQuery) => unknown) => {
  const parseQuery = queryParser(schema);
  const requireDecimal = requireDecimalIntegers(schema, '/query');
  const headerParameters = Object.entries(headerNames).map(([name, header]) => [name, header.toLowerCase()] as const);
  return (request) => {
    const { query, headers } = request;
    const input: Record<string, unknown> = parseQuery((query as { readonly search: string }).search);
    for (const [name] of headerParameters) delete input[name];
    requireDecimal(input);
    for (const [name, header] of headerParameters) {
      if (headers[header] !== undefined) input[name] = headers[header];
    }
    if (headerParameters.length > 0) requireStorableText(input, '/query');
    if (address !== undefined) input[address] = request.ip;
    return parse(schema, input, '/query', 'text');
  };
};
