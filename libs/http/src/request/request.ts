import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import {
  type AnyOperation,
  hasBody,
  type HttpBinding,
  invalid,
  isObjectSchema,
  isPublicOperation,
  quoteValue,
  type Refusal,
  refusal,
  requireStorableText,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { maxPublicBodyBytes } from '../admission/admission.ts';
import type { ConcurrentRequestLimits } from '../admission/concurrent-requests.ts';
import {
  largeJsonLimits,
  ordinaryJsonLimits,
  parseUntrustedJson,
  readBody,
  requireContentLengthWithin,
} from './body.ts';
import type { HttpSettings } from '../settings.ts';

const decimal = /^-?[0-9]+$/;

/**
 * Returns a function that refuses integers of a URL that are not in decimal digits: the conversion of texts to the types of a schema would
 * accept `0x10`, `1e3` and ` 1`. A list is refused by its schema.
 * @param path JSON pointer of the values within the request, such as `/params`
 * @throws Refusal `ValidationError`
 */
function requireDecimalIntegers(
  schema: TSchema,
  path: '/params' | '/query',
): (values: Readonly<Record<string, unknown>>) => void {
  const properties = isObjectSchema(schema) ? Object.entries(schema.properties) : [];
  const integers = properties
    .filter(([, property]) => (property as { type?: unknown }).type === 'integer')
    .map(([name]) => name);
  return (values) => {
    for (const name of integers) {
      const value = values[name];
      if (typeof value !== 'string' || decimal.test(value)) continue;
      const at = `${path}/${name}`;
      throw invalid(`The \`${at}\` property must be integer. You sent ${quoteValue(value)}.`, at);
    }
  };
}

type Query = Record<string, string | string[]>;

function decode(text: string, name: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalid(`The \`/query/${name}\` property must be well-formed percent-encoded UTF-8.`, `/query/${name}`);
  }
}

/** The decoded name of a parameter; undefined for a malformed one, which no contract can have. */
function decodedName(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The index that some clients write where others write `[]`. */
const indexOfElement = /\[\d{1,9}\]$/;

/**
 * Parses the query of an operation, decoding it once: the parameters of its contract, or all of them where the contract has additional
 * properties. A list takes every `name=`, `name[]=` and `name[0]=`; any other repeated parameter becomes a list too, which its schema then
 * rejects.
 */
export function queryParser(schema: TSchema): (search: string) => Query {
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
    parameters.get(requestedName.replace(indexOfElement, '[]')) ??
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
}

/** The parts of a request that provide query parameters of an operation. */
interface RequestWithQuery {
  readonly headers: IncomingHttpHeaders;
  /** `{ search }`: the raw query */
  readonly query: unknown;
  readonly ip: string;
}

/** Parses the query, with those parameters that the contract takes from headers or from the client address instead. */
export function queryAndHeadersParser(
  schema: TSchema,
  { headers: headerNames = {}, address }: HttpBinding,
): (request: RequestWithQuery) => unknown {
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
}

const jsonType = 'application/json';
const utf8 = new Set(['utf-8', 'utf8', 'us-ascii']);

function notAccepted(contentType: string | undefined, accepted = jsonType): Refusal {
  const received =
    contentType === undefined ? "you didn't provide one" : contentType.slice(0, 100).replace(/[^ -~]/g, '?');
  return refusal(
    'ContentTypeerror',
    `We do not accept the content-type you provided (${received}). Try using one of the content-types we do accept instead (${accepted}) and make sure the body is in the corresponding format.`,
  );
}

function isJson(contentType: string): boolean {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  if (type.trim() !== jsonType) return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'charset' || utf8.has(value.trim().replace(/^"(.*)"$/, '$1'));
  });
}

export const formContentType = 'application/x-www-form-urlencoded';

/** Refuses by its headers every body but an uncompressed form. @throws Refusal `ContentTypeerror`, a 415 */
function requireForm(headers: IncomingHttpHeaders): void {
  const contentType = headers['content-type'];
  const encoding = headers['content-encoding'];
  const isForm = contentType?.split(';', 1)[0]?.trim().toLowerCase() === formContentType;
  if (!isForm || (encoding !== undefined && encoding !== 'identity')) throw notAccepted(contentType, formContentType);
}

/** The text of a body, whose bytes are those of the text. */
function textOfForm(body: Buffer): string {
  if (!isUtf8(body)) throw invalid('The `/body` property must be UTF-8.', '/body');
  const text = body.toString();
  requireStorableText(text, '/body');
  return text;
}

/**
 * Refuses by its headers every body but uncompressed JSON in UTF-8. @throws Refusal `ContentTypeerror`, a 415
 * @param mayBeMissing whether a request may have no content type: it has no body, or one that is read as JSON
 */
export function requireJsonContentType(headers: IncomingHttpHeaders, mayBeMissing: boolean): void {
  // An empty header names no type.
  const contentType = headers['content-type']?.trim() || undefined;
  // The fast path: nearly every request with a body has exactly this header.
  if (contentType !== jsonType) {
    if (contentType === undefined ? !mayBeMissing : !isJson(contentType)) throw notAccepted(contentType);
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw refusal(
      'ContentTypeerror',
      'We do not accept compressed bodies. Send the body as it is, without a content-encoding.',
    );
  }
}

export interface ParsedOperationRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

interface ReaderOptions {
  readonly config: HttpSettings;
  readonly limits: Pick<ConcurrentRequestLimits, 'bodyReceived'>;
}

/** Parses the parameters of a path by their schema. */
export function paramsParser(schema: TSchema): (request: FastifyRequest) => unknown {
  if (!isObjectSchema(schema) || Object.keys(schema.properties).length === 0) return () => ({});
  const requireDecimal = requireDecimalIntegers(schema, '/params');
  return ({ params }) => {
    requireStorableText(params, '/params');
    const values = { ...(params as Readonly<Record<string, unknown>>) };
    requireDecimal(values);
    return parse(schema, values, '/params', 'text');
  };
}

function bodyLimitsOf(operation: AnyOperation, config: HttpSettings) {
  if (operation.http?.largeBody === true) {
    const json = largeJsonLimits(config);
    return {
      maxBytes: config.GATEWAY_MAX_LARGE_BODY_BYTES,
      timeoutMs: config.GATEWAY_LARGE_BODY_TIMEOUT_MS,
      // The flags of a usage report are members of an object. There may be as many as a list has items: beyond, the SDK would lose all counts.
      json: operation.http.dropsUnusableNames === true ? { ...json, members: json.items } : json,
    };
  }
  return {
    maxBytes: isPublicOperation(operation) ? maxPublicBodyBytes(config) : config.GATEWAY_MAX_BODY_BYTES,
    timeoutMs: config.GATEWAY_BODY_TIMEOUT_MS,
    json: ordinaryJsonLimits(config),
  };
}

/** Reads and parses requests to an operation by its contract, in one order: content type, size, JSON, schema of body, path and query. */
export function operationRequestReader(
  operation: AnyOperation,
  http: NonNullable<AnyOperation['http']>,
  { config, limits }: ReaderOptions,
) {
  const bodyLimits = bodyLimitsOf(operation, config);
  const readsBody = hasBody(operation);
  const mayLackContentType = !readsBody || http.assumesJson === true;
  const isForm = http.form === true;
  const requiresJson = http.method !== 'GET' && http.anyContentType !== true && !isForm;
  const textChecks = {
    dropsUnusableNames: http.dropsUnusableNames === true,
    acceptsUnstorableText: operation.respondsFromMemory === true,
  };
  const parseParams = paramsParser(operation.params);
  const parseQuery = queryAndHeadersParser(operation.query, http);

  return async (request: FastifyRequest, response: FastifyReply): Promise<ParsedOperationRequest> => {
    const { raw } = request;
    if (requiresJson) requireJsonContentType(raw.headers, mayLackContentType);
    if (isForm) requireForm(raw.headers);
    requireContentLengthWithin(raw, bodyLimits.maxBytes);
    const bodyBytes = readsBody ? await readBody(raw, response.raw, bodyLimits) : undefined;
    // Before the body is parsed: parsing counts as handling.
    limits.bodyReceived(request);
    const body =
      bodyBytes === undefined
        ? undefined
        : parse(
            operation.body,
            isForm ? textOfForm(bodyBytes) : parseUntrustedJson(bodyBytes, bodyLimits.json, textChecks),
            '/body',
          );
    return { params: parseParams(request), query: parseQuery(request), body };
  };
}
