import {
  type AnyOperation,
  conditionalErrors,
  ErrorBody,
  type ErrorKind,
  errorsOfAnyRequest,
  errorsOfConditionalHeaders,
  hasBody,
  type HttpBinding,
  impliedErrors,
  isJsonObject,
  isObjectSchema,
  isPublicOperation,
  isLenientSchema,
  NoReply,
  permissionsFor,
  Problem,
  segmentListContentTypes,
} from '@bunting/contracts';
import { buntingVersion } from '@bunting/runtime';
import { STATUS_CODES } from 'node:http';
import type { TSchema } from 'typebox';
import { entityTagsPattern, formContentType, httpStatusOf, idempotencyKeyPattern } from '@bunting/http';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: JsonObject;
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>;
    readonly responses: Readonly<Record<string, Json>>;
    readonly securitySchemes: JsonObject;
  };
  readonly security: readonly JsonObject[];
}

/** `documented<Keyword>` of a schema replaces `<keyword>` in the document; validation ignores it. */
function keywordOf(key: string): string {
  return key.startsWith('documented') ? `${key.charAt(10).toLowerCase()}${key.slice(11)}` : key;
}

/** Keywords for validation only, which the document omits. */
const validationKeywords: ReadonlySet<string> = new Set(['lenient', 'form', 'operand', 'maxTrimmedLength']);

/** Converts schemas to JSON; each titled schema is written once, as a component that others refer to. */
function schemaWriter() {
  const schemas: Record<string, Json> = {};
  const written = new WeakMap<object, Json>();

  const writeMembers = (value: unknown): Json => {
    if (Array.isArray(value)) return value.map(writeMembers);
    if (!isJsonObject(value)) return value as Json;
    const documented = Object.entries(value).filter(([key]) => !validationKeywords.has(key));
    const entries = documented.map(([key, member]) => [
      keywordOf(key),
      keywordOf(key) === 'properties' ? writeProperties(member) : write(member),
    ]);
    return Object.fromEntries(entries) as Json;
  };

  // The keys of `properties` are names of properties, never keywords.
  const writeProperties = (value: unknown): Json =>
    isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, write(schema)]))
      : null;

  const write = (schema: unknown): Json => {
    if (!isJsonObject(schema)) return writeMembers(schema);
    if (isJsonObject(schema['documentation'])) return write(schema['documentation']);
    const known = written.get(schema);
    if (known !== undefined) return known;
    const json = writeTitled(schema);
    written.set(schema, json);
    return json;
  };

  const writeTitled = (schema: Readonly<Record<string, unknown>>): Json => {
    const { title } = schema;
    const json = writeMembers(schema);
    if (typeof title !== 'string' || !title.endsWith('Schema')) return json;
    const differs = (name: string) =>
      schemas[name] !== undefined && JSON.stringify(schemas[name]) !== JSON.stringify(json);
    const name = isLenientSchema(schema) && differs(title) ? title.replace(/Schema$/, 'RequestSchema') : title;
    if (differs(name)) throw new Error(`Two different schemas are called ${name}.`);
    schemas[name] = json;
    return { $ref: `#/components/schemas/${name}` };
  };

  return { write, schemas };
}

type SchemaWriter = (schema: unknown) => Json;

function holdsLenientSchema(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return isLenientSchema(value) || Object.values(value).some(holdsLenientSchema);
}

const meaningOf: Readonly<Record<number, string>> = {
  400: 'The request does not match its schema or a rule; the message names the invalid property.',
  401: 'The request has no valid token or session.',
  403: 'The caller lacks a permission, or the operation is not allowed on this object.',
  404: 'The object of the request was not found.',
  412: 'The object has changed since it was read; the ETag header has its current tag.',
  422: 'The Idempotency-Key was used before with another request.',
  409: 'The request conflicts with the current state.',
  413: 'The body of the request is too large.',
  408: 'The request did not arrive in time.',
  414: 'The address of the request, or its query, is too long.',
  415: 'The content type is not supported; it must be application/json.',
  429: 'There were too many requests. Try again after the seconds in Retry-After.',
  431: 'The headers of the request are too large, or too many.',
  503: 'A service that the operation needs is unavailable. Try again after the seconds in Retry-After.',
};

const retryAfter = { 'Retry-After': { description: 'seconds to wait', schema: { type: 'integer' } } } as const;

function entityTag(description: string): JsonObject {
  return { ETag: { description, schema: { type: 'string' } } };
}

function errorResponse(status: number, kinds: readonly ErrorKind[], write: SchemaWriter): JsonObject {
  const meaning = meaningOf[status] ?? `${STATUS_CODES[status]}.`;
  const examples = kinds.map((kind) => [
    kind,
    { value: { id: '9c40958a-daac-400e-98fb-3bb438567008', name: kind, message: meaning } },
  ]);
  return {
    description: `${meaning} Kinds: ${kinds.map((kind) => `\`${kind}\``).join(', ')}.`,
    ...(status === 503 || status === 429 ? { headers: retryAfter } : {}),
    ...(status === 412 ? { headers: entityTag('the current tag, if the object still exists') } : {}),
    content: {
      'application/json': { schema: write(ErrorBody), examples: Object.fromEntries(examples) },
      'application/problem+json': { schema: write(Problem) },
    },
  };
}

function errorResponses(operation: AnyOperation, write: SchemaWriter): JsonObject {
  const kinds = [...new Set([...impliedErrors(operation), ...operation.errors])];
  const byStatus = Map.groupBy(kinds, (kind) => httpStatusOf[kind]);
  const responses: Record<string, Json> = {};
  for (const status of [...byStatus.keys()].sort((one, other) => one - other)) {
    responses[status] = errorResponse(status, byStatus.get(status) ?? [], write);
  }
  for (const kind of [...errorsOfAnyRequest, ...conditionalErrors(operation)])
    responses[httpStatusOf[kind]] ??= { $ref: `#/components/responses/${kind}` };
  return responses;
}

/** Whether a client can ask by `If-None-Match` for a response only if it has changed: of a GET, or of a POST that tags its responses as one. */
function supportsIfNoneMatch({ http, setsEntityTag }: AnyOperation): boolean {
  return (
    http?.eventStream === undefined && http?.idList === undefined && (http?.method === 'GET' || setsEntityTag === true)
  );
}

const notModifiedResponse: JsonObject = {
  304: { description: 'Not modified: `If-None-Match` names the current tag.', headers: entityTag('the current tag') },
};

const replayedHeader: JsonObject = {
  'Idempotency-Replayed': {
    description: '`true` when the response is the stored one of an earlier request with the same `Idempotency-Key`',
    schema: { type: 'string' },
  },
};

function contentTypeOf({ http }: AnyOperation): string {
  return http?.eventStream === true ? 'text/event-stream' : (http?.contentType ?? 'application/json');
}

/** A list of ids, as requests and responses have it. */
function idListContent(types: readonly string[]): JsonObject {
  const schema = { type: 'string', description: 'ids, a line each' };
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

function requestBodyOf({ http, body }: AnyOperation, write: SchemaWriter): JsonObject {
  if (http?.form === true) {
    const schema = { type: 'object', additionalProperties: { type: 'string' } };
    return { required: true, content: { [formContentType]: { schema } } };
  }
  if (http?.idList === undefined) return { required: true, content: { 'application/json': { schema: write(body) } } };
  return { required: http.idList === 'required', content: idListContent(segmentListContentTypes) };
}

function successResponses(operation: AnyOperation, write: SchemaWriter): JsonObject {
  const { http, reply, deprecated, ifMatch } = operation;
  const status = http?.status ?? 200;
  const isRead = http?.method === 'GET';
  const headers = {
    ...(isRead && http.eventStream === undefined && http.idList === undefined
      ? entityTag('changes with the content of the response')
      : {}),
    ...(isRead || isPublicOperation(operation) ? {} : replayedHeader),
    ...(!isRead && ifMatch !== undefined
      ? entityTag(`the current tag of the ${ifMatch}, where the operation returns it`)
      : {}),
    ...(http?.location === undefined
      ? {}
      : { Location: { description: 'the address of the created object', schema: { type: 'string' } } }),
    ...(deprecated === undefined
      ? {}
      : { Deprecation: { description: 'since when it is deprecated (RFC 9745)', schema: { type: 'string' } } }),
  };
  const lines = http?.lines;
  const content: JsonObject =
    http?.idList === 'response'
      ? idListContent(['application/x-ndjson', 'text/csv'])
      : lines === undefined
        ? { [contentTypeOf(operation)]: { schema: write(reply) } }
        : { 'application/x-ndjson': { schema: write(lines) } };
  const description =
    (reply as { description?: string }).description ??
    (reply === (NoReply as TSchema) ? 'Done. There is no body.' : 'Done.');
  return {
    [status]: {
      description,
      ...(Object.keys(headers).length === 0 ? {} : { headers }),
      ...(reply === (NoReply as TSchema) ? {} : { content }),
    },
    ...(supportsIfNoneMatch(operation) ? notModifiedResponse : {}),
  };
}

function headerParameter(name: string, pattern: string, description: string): JsonObject {
  return {
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string', pattern },
  };
}

function headersOf(operation: AnyOperation): readonly JsonObject[] {
  const { http, ifMatch } = operation;
  if (isPublicOperation(operation)) return [];
  if (http?.eventStream === true) return [];
  if (supportsIfNoneMatch(operation)) {
    return [
      headerParameter(
        'If-None-Match',
        entityTagsPattern,
        'tags of responses that the client has: 304 when one of them is current',
      ),
    ];
  }
  const key = headerParameter(
    'Idempotency-Key',
    idempotencyKeyPattern,
    '1 to 255 visible ASCII characters, new for each request: sent again with it, the request is done once',
  );
  if (ifMatch === undefined) return [key];
  return [
    key,
    headerParameter(
      'If-Match',
      entityTagsPattern,
      `tags of the ${ifMatch}: nothing is done unless one of them is current`,
    ),
  ];
}

/** @param http names the parameters that are headers, and the one that is the client address, which is not documented */
function parameters(
  location: 'path' | 'query',
  schema: TSchema,
  write: SchemaWriter,
  { headers = {}, address }: Pick<HttpBinding, 'headers' | 'address'> = {},
): readonly Json[] {
  if (!isObjectSchema(schema)) return [];
  const required: readonly string[] = schema.required ?? [];
  const properties = Object.entries(schema.properties).filter(([name]) => name !== address);
  return properties.map(([name, property]) => {
    const { description, deprecated, ...shape } = write(property) as Record<string, Json>;
    return {
      name: headers[name] ?? name,
      in: headers[name] === undefined ? location : 'header',
      required: location === 'path' || required.includes(name),
      ...(description === undefined ? {} : { description }),
      ...(deprecated === undefined ? {} : { deprecated }),
      schema: shape,
    };
  });
}

function descriptionOf(operation: AnyOperation): string {
  const permissions = permissionsFor(operation).map((name) => `\`${name}\``);
  const withoutPermission = isPublicOperation(operation) ? 'No key is needed.' : 'Any valid key will do.';
  const access = permissions.length === 0 ? withoutPermission : `Needs ${permissions.join(' or ')}.`;
  return `${operation.description ?? `${operation.summary}.`}\n\n${access}`;
}

function operationObject(operation: AnyOperation, write: SchemaWriter): JsonObject {
  const { operationId, tag, summary, params, query, deprecated, http } = operation;
  const allParameters = [
    ...parameters('path', params, write),
    ...parameters('query', query, write, http),
    ...headersOf(operation),
  ];
  return {
    operationId,
    tags: [tag],
    summary,
    description: descriptionOf(operation),
    ...(deprecated === undefined ? {} : { deprecated }),
    'x-permissions': permissionsFor(operation),
    ...(operation.isBuntingExtension === undefined ? {} : { 'x-bunting-extension': true }),
    ...(isPublicOperation(operation) ? { security: [] } : {}),
    ...(allParameters.length === 0 ? {} : { parameters: allParameters }),
    ...(hasBody(operation) ? { requestBody: requestBodyOf(operation, write) } : {}),
    responses: { ...successResponses(operation, write), ...errorResponses(operation, write) },
  };
}

export function openApiDocument(operations: readonly AnyOperation[]): OpenApiDocument {
  const { write, schemas } = schemaWriter();
  // Replies are written first, so that they keep their names; a request that differs from a reply of the same name gets its own name, also
  // within a reply.
  const replies = operations.filter(({ http }) => http !== undefined).map(({ reply }) => reply);
  for (const reply of replies.filter((schema) => !holdsLenientSchema(schema))) write(reply);
  for (const reply of replies) write(reply);
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const operation of operations) {
    if (operation.http === undefined) continue;
    const path = operation.http.url.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[operation.http.method.toLowerCase()] = operationObject(operation, write);
  }
  const shared = [...errorsOfAnyRequest, ...errorsOfConditionalHeaders];
  const responses = Object.fromEntries(shared.map((kind) => [kind, errorResponse(httpStatusOf[kind], [kind], write)]));
  const tags = [...new Set(operations.filter(({ http }) => http !== undefined).map(({ tag }) => tag))].sort();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Bunting API',
      version: buntingVersion(),
      description:
        'Administers feature flags: per project and environment, with change requests, search and an event log.',
    },
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1))),
      responses,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'The key as it is.' },
        bearerToken: { type: 'http', scheme: 'bearer', description: 'The key after the word Bearer.' },
      },
    },
    security: [{ apiKey: [] }, { bearerToken: [] }],
  };
}
