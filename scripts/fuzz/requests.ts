import fc from 'fast-check';
import { type ApiDescription, type DescribedOperation, formType, type Schema } from './api-description.ts';
import { type KnownObjects, type PathValues } from './known-objects.ts';
import { chance, type Draw, valuesOf } from './values.ts';

/** A request before it is encoded; the sender encodes it. */
export interface FuzzRequest {
  readonly operation: DescribedOperation;
  readonly pathValues: PathValues;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** the request target that is sent instead of the one made of path and query */
  readonly rawTarget?: string;
  /** the bytes that are sent instead of `body` */
  readonly rawBody?: Buffer;
}

/** A request that breaks one rule, and the status of the expected response. */
export interface InvalidRequest {
  readonly request: FuzzRequest;
  readonly rule: string;
  readonly expected: number;
}

/** An admin token, and the key of a user with all permissions. */
export interface Keys {
  readonly admin: string;
  readonly personal: string;
  /** the id of the account that has the personal key; no request may change or delete it */
  readonly personalId: string;
}

export const json = 'application/json';
/** Most bodies may have a mebibyte. */
const maxItemsBytes = 900_000;

/** The request target: path and query, percent-encoded. */
export function targetOf({ operation, pathValues, query, rawTarget }: FuzzRequest): string {
  if (rawTarget !== undefined) return rawTarget;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(pathValues[name] ?? 'x'),
  );
  const search = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  return search === '' ? path : `${path}?${search}`;
}

/** The bytes of the body; undefined for a request without one. */
export function bodyOf({ rawBody, body }: FuzzRequest): Buffer | undefined {
  return rawBody ?? (body === undefined ? undefined : Buffer.from(JSON.stringify(body)));
}

/** Makes a request that matches the description; the objects that it refers to need not exist. */
export function validRequest(
  { resolve }: ApiDescription,
  operation: DescribedOperation,
  known: KnownObjects,
  keys: Keys,
  draw: Draw,
  isSentUnchanged: boolean,
): FuzzRequest {
  // Half of the requests should succeed; the others refer to existing or unknown objects, with ordinary or unusual values.
  const isPlain = draw(chance(0.75));
  const places = isPlain || draw(fc.boolean()) ? known.pathValuesOf(operation.path) : [];
  const place = places.length === 0 ? {} : draw(fc.constantFrom(...places));
  const identifiersOf = (name: string): readonly string[] => {
    const own = [place[name], name === 'project' ? place['projectId'] : undefined].filter(
      (value) => value !== undefined,
    );
    return own.length > 0 ? own : known.identifiersOf(name);
  };
  const context = { resolve, isPlain, identifiersOf };
  /** Text that matches the schema of a parameter; undefined if none was drawn. */
  const parameterText = (name: string, schema: Schema): string | undefined =>
    draw(fc.array(valuesOf(schema, name, context), { minLength: 5, maxLength: 5 }))
      .map((value) => String(value ?? ''))
      .find((text) => operation.validateParameter.get(name)?.(text) === undefined)
      ?.toWellFormed();

  const pathValues: Record<string, string> = Object.fromEntries(
    operation.pathParameters.map(({ name, schema }) => {
      const value = place[name];
      const isUsable = value !== undefined && operation.validateParameter.get(name)?.(value) === undefined;
      return [name, (isUsable ? value : parameterText(name, schema)) || 'x'];
    }),
  );
  if (
    /^\/api\/admin\/(?:service-account|user-admin)\/\{id\}/.test(operation.path) &&
    pathValues['id'] === keys.personalId
  )
    pathValues['id'] = '9999';
  const query = operation.queryParameters.flatMap(({ name, schema, required }): [string, string][] => {
    if (!required && !draw(chance(isPlain ? 0.1 : 0.4))) return [];
    const { type, items = {} } = resolve(schema);
    if (type === 'array')
      return draw(fc.array(valuesOf(items, name, context), { minLength: 1, maxLength: 3 })).map((value) => [
        name,
        String(value ?? ''),
      ]);
    const text = parameterText(name, schema);
    return text === undefined ? [] : [[name, text]];
  });
  // A run may delete the personal key, so a request that is changed to break a rule does not use it: it must be refused for that rule.
  const authorization = isSentUnchanged && draw(fc.boolean()) ? keys.personal : keys.admin;
  const bodySchema = operation.body;
  if (bodySchema === undefined) {
    const headers = { authorization, ...(operation.takesForm ? { 'content-type': formType } : {}) };
    return { operation, pathValues, query, headers, body: undefined };
  }
  const objects = isPlain ? known.objectsAt(operation.path, pathValues) : [];
  let body: unknown;
  for (let attempt = 0; attempt < 30; attempt++) {
    body = draw(valuesOf(bodySchema, '', context));
    // An update has most properties of the object that it changes.
    const object =
      objects.length > 0 && attempt < 5 && draw(chance(0.7)) ? draw(fc.constantFrom(...objects)) : undefined;
    if (object !== undefined && typeof body === 'object' && body !== null && !Array.isArray(body)) {
      const reused = Object.entries(object).filter(([name]) => propertiesOf(bodySchema, resolve).has(name));
      body = { ...body, ...Object.fromEntries(reused.filter(() => draw(chance(0.9)))) };
    }
    // Validated as the server receives it: without properties that are undefined.
    body = JSON.parse(JSON.stringify(body ?? null)) as unknown;
    if (operation.validateBody(body) === undefined)
      return { operation, pathValues, query, headers: { authorization, 'content-type': json }, body };
  }
  throw new Error(`No body could be drawn that matches the schema of ${operation.id}.`);
}

function propertiesOf(reference: Schema, resolve: ApiDescription['resolve']): Set<string> {
  const schema = resolve(reference);
  const branches = [...(schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [])].map((one) => propertiesOf(one, resolve));
  return new Set([...Object.keys(schema.properties ?? {}), ...branches.flatMap((names) => [...names])]);
}

/** Derives from a valid request one that breaks one rule of a schema, of HTTP, of JSON or of authentication, and names it. */
export function invalidRequest(description: ApiDescription, request: FuzzRequest, draw: Draw): InvalidRequest {
  // A kind that is listed more often is drawn more often: most rules come from schemas.
  const kinds = [breakBody, breakBody, breakBody, breakPath, breakQuery, breakQuery, breakProtocol, breakProtocol];
  for (;;) {
    const invalid = draw(fc.constantFrom(...kinds))(request, draw, description);
    if (invalid !== undefined) return invalid;
  }
}

/** A replacement of a value, or of one of its members, that should break a rule of its schema. */
interface Mutation {
  readonly rule: string;
  /** the path to the replaced member; empty for the value itself */
  readonly path: readonly (string | number)[];
  /** the replacement; `removed` removes the member */
  readonly value: unknown;
}
const removed = Symbol('removed');
/** One value of each type of JSON Schema. */
const valuesOfAllTypes = ['text', 7.5, 7, true, null, [], {}];

/** Mutations of a value and its members, one for each rule of the schema. Some do not break their rule in the end. */
function mutationsOf(
  resolve: ApiDescription['resolve'],
  draw: Draw,
  reference: Schema,
  value: unknown,
  path: Mutation['path'] = [],
): Mutation[] {
  const schema = resolve(reference);
  const { minLength = 0, maxLength, minimum, maximum, minItems = 0, maxItems, items, additionalProperties } = schema;
  const within = (member: Schema, at: unknown, key?: string | number) =>
    mutationsOf(resolve, draw, member, at, key === undefined ? path : [...path, key]);
  const possible: [rule: string, applies: boolean, value: () => unknown][] = [
    ['wrong type', true, () => draw(fc.constantFrom(...valuesOfAllTypes))],
    ['not among the values', schema.enum !== undefined || schema.const !== undefined, () => 'none of them'],
    ['too short', minLength > 0, () => 'x'.repeat(minLength - 1)],
    ['too long', maxLength !== undefined && maxLength < 10_000, () => 'x'.repeat((maxLength ?? 0) + 1)],
    ['not of the pattern', schema.pattern !== undefined, () => '\u0001 no \u0002'],
    ['not of the format', schema.format !== undefined, () => 'neither date nor address'],
    ['too small', minimum !== undefined, () => (minimum ?? 0) - 1],
    ['too large', maximum !== undefined, () => (maximum ?? 0) + 1],
    ['too small', schema.exclusiveMinimum !== undefined, () => schema.exclusiveMinimum],
    ['too large', schema.exclusiveMaximum !== undefined, () => schema.exclusiveMaximum],
    ['between the steps', schema.multipleOf !== undefined, () => (minimum ?? 0) + (schema.multipleOf ?? 0) / 2],
  ];
  const mutations: Mutation[] = possible
    .filter(([, applies]) => applies)
    .map(([rule, , replacement]) => ({ rule, path, value: replacement() }));

  const branch = (schema.anyOf ?? schema.oneOf)?.map(resolve).find(({ type }) => type !== 'null');
  if (branch !== undefined && value !== null) mutations.push(...within(branch, value));
  if (Array.isArray(value)) {
    const list = value as unknown[];
    if (minItems > 0) mutations.push({ rule: 'too few items', path, value: list.slice(0, minItems - 1) });
    if (list.length === 0) return mutations;
    if (maxItems !== undefined && maxItems < 2_000) {
      const tooMany = Array.from({ length: maxItems + 1 }, (_, index) => list[index % list.length]);
      // A body that is too large is refused for that reason.
      if (Buffer.byteLength(JSON.stringify(tooMany)) < maxItemsBytes)
        mutations.push({ rule: 'too many items', path, value: tooMany });
    }
    if (schema.uniqueItems === true) mutations.push({ rule: 'the same item twice', path, value: [...list, list[0]] });
    const index = draw(fc.nat(list.length - 1));
    return items === undefined ? mutations : [...mutations, ...within(items, list[index], index)];
  }
  if (typeof value !== 'object' || value === null) return mutations;
  for (const name of schema.required ?? [])
    mutations.push({ rule: 'required, and not there', path: [...path, name], value: removed });
  if (additionalProperties === false)
    mutations.push({ rule: 'an unknown property', path: [...path, 'unknownProperty'], value: 1 });
  for (const [name, member] of Object.entries(value)) {
    const free = typeof additionalProperties === 'object' ? additionalProperties : undefined;
    const memberSchema = schema.properties?.[name] ?? free;
    if (memberSchema !== undefined) mutations.push(...within(memberSchema, member, name));
  }
  return mutations;
}

/** A copy of a value with the member at a path replaced or removed. */
function replaceAt(value: unknown, [key, ...rest]: Mutation['path'], replacement: unknown): unknown {
  if (key === undefined) return replacement;
  if (Array.isArray(value))
    return value.map((item, index) => (index === key ? replaceAt(item, rest, replacement) : item));
  const { [key]: before, ...others } = value as Record<string, unknown>;
  const after = replaceAt(before, rest, replacement);
  return after === removed ? others : { ...others, [key]: after };
}

/** Draws a mutation after which the value is invalid. Every rule is equally likely; undefined if none was found in some attempts. */
function drawMutation(
  mutations: readonly Mutation[],
  draw: Draw,
  isInvalidAfter: (mutation: Mutation) => boolean,
): Mutation | undefined {
  const byRule = [...Map.groupBy(mutations, ({ rule }) => rule).values()];
  for (let attempt = 0; attempt < 12 && byRule.length > 0; attempt++) {
    const mutation = draw(fc.constantFrom(...byRule).chain((ofRule) => fc.constantFrom(...ofRule)));
    if (isInvalidAfter(mutation)) return mutation;
  }
  return undefined;
}

/** Makes a valid request invalid; undefined if it has nothing that can be broken in this way. */
type Break = (request: FuzzRequest, draw: Draw, description: ApiDescription) => InvalidRequest | undefined;

const breakBody: Break = (request, draw, { resolve }) => {
  const { operation, body } = request;
  if (operation.body === undefined) return undefined;
  const mutation = drawMutation(mutationsOf(resolve, draw, operation.body, body), draw, ({ path, value }) => {
    const mutated = replaceAt(body, path, value);
    return mutated !== removed && operation.validateBody(mutated) !== undefined;
  });
  if (mutation === undefined) return undefined;
  const broken = replaceAt(body, mutation.path, mutation.value);
  return { request: { ...request, body: broken }, rule: `body: ${mutation.rule}`, expected: 400 };
};

/** A mutation whose value, written as text, violates the schema of a parameter, or of the items of a parameter that is a list. */
function breakParameter(
  operation: DescribedOperation,
  { name, schema }: DescribedOperation['pathParameters'][number],
  draw: Draw,
  resolve: ApiDescription['resolve'],
): Mutation | undefined {
  const { type, items } = resolve(schema);
  const isList = type === 'array';
  const mutations = mutationsOf(resolve, draw, isList ? (items ?? {}) : schema, '').filter(
    ({ value }) => ['string', 'number'].includes(typeof value) && value !== '',
  );
  return drawMutation(mutations, draw, ({ value }) => {
    const text = String(value);
    return operation.validateParameter.get(name)?.(isList ? [text] : text) !== undefined;
  });
}

const breakPath: Break = (request, draw, { resolve }) => {
  const { operation } = request;
  if (operation.pathParameters.length === 0) return undefined;
  const parameter = draw(fc.constantFrom(...operation.pathParameters));
  const mutation = breakParameter(operation, parameter, draw, resolve);
  if (mutation === undefined) return undefined;
  const pathValues = { ...request.pathValues, [parameter.name]: String(mutation.value) };
  return { request: { ...request, pathValues }, rule: `path: ${mutation.rule}`, expected: 400 };
};

const breakQuery: Break = (request, draw, { resolve }) => {
  const { operation } = request;
  if (operation.queryParameters.length === 0) return undefined;
  const parameter = draw(fc.constantFrom(...operation.queryParameters));
  const { name, schema } = parameter;
  const others = request.query.filter(([other]) => other !== name);
  if (resolve(schema).type !== 'array' && draw(chance(0.2))) {
    const query = [...others, [name, 'a'], [name, 'b']] as const;
    return { request: { ...request, query }, rule: 'query: said twice', expected: 400 };
  }
  const mutation = breakParameter(operation, parameter, draw, resolve);
  if (mutation === undefined) return undefined;
  const query = [...others, [name, String(mutation.value)]] as const;
  return { request: { ...request, query }, rule: `query: ${mutation.rule}`, expected: 400 };
};

function withHeaders(request: FuzzRequest, headers: Readonly<Record<string, string>>): FuzzRequest {
  return {
    ...request,
    headers: { ...request.headers, ...headers },
  };
}
function withBody(request: FuzzRequest, text: string | Buffer): FuzzRequest {
  return {
    ...request,
    rawBody: Buffer.from(text as string),
  };
}
/** Replaces the value of one path parameter by text that is sent without further encoding. */
function withPathValue(request: FuzzRequest, rawValue: string, draw: Draw): FuzzRequest {
  const { name } = draw(fc.constantFrom(...request.operation.pathParameters));
  const target = targetOf({ ...request, pathValues: { ...request.pathValues, [name]: 'MARKED' } });
  return { ...request, rawTarget: target.replace('MARKED', rawValue) };
}
/** Appends text to the query, without further encoding. */
function withQuery(request: FuzzRequest, rawQuery: string): FuzzRequest {
  const target = targetOf(request);
  return { ...request, rawTarget: `${target}${target.includes('?') ? '&' : '?'}${rawQuery}` };
}
function withParameter(request: FuzzRequest, value: string, draw: Draw): FuzzRequest {
  return withQuery(request, `${draw(fc.constantFrom(...request.operation.queryParameters)).name}=${value}`);
}
/** Replaces the first string value in the JSON of the body by other JSON text, or, where there is none, the body by a list of that text. */
function withJson(request: FuzzRequest, rawValue: string): FuzzRequest {
  const text = JSON.stringify(request.body);
  const first = /"(?:[^"\\]|\\.)*"(?=[,}\]])/.exec(text);
  if (first === null) return withBody(request, `[${rawValue}]`);
  return withBody(request, `${text.slice(0, first.index)}${rawValue}${text.slice(first.index + first[0].length)}`);
}

function any(): boolean {
  return true;
}
function needsKey({ operation }: FuzzRequest): boolean {
  return operation.needsKey;
}
function hasPath({ operation }: FuzzRequest): boolean {
  return operation.pathParameters.length > 0;
}
function hasQuery({ operation }: FuzzRequest): boolean {
  return operation.queryParameters.length > 0;
}
function takesBody({ operation }: FuzzRequest): boolean {
  return operation.body !== undefined;
}
/** Contexts are not stored, and reports of usage lose what cannot be, so that neither is refused for it. */
function storesBody(request: FuzzRequest): boolean {
  return takesBody(request) && !/^\/(ofrep|api\/(frontend|client\/metrics))/.test(request.operation.path);
}
function requiresJson(request: FuzzRequest): boolean {
  return takesBody(request) && request.operation.responses.has(415);
}

/** Percent-escapes that are malformed or are no UTF-8. */
const escapes = fc.constantFrom('%zz', '%ff', '%C3%28', '%');
const wrongKeys = fc.constantFrom('*:*.0000', 'Bearer nonsense', 'x'.repeat(600), 'user:');
const otherTypes = fc.constantFrom(
  'text/plain',
  'application/json-patch+json',
  'application/xml',
  'application/json; charset=latin1',
);
const noJson = fc.constantFrom('nonsense', '{a:1}', "{'a':1}", '[1,]', '\u0000', '01', '{"a":1}}');
const manyHeaders = Object.fromEntries(Array.from({ length: 120 }, (_, nth) => [`x-${nth}`, '1']));
const manyParameters = Array.from({ length: 300 }, (_, nth) => `p${nth}`).join('&');
const tooDeep = `${'['.repeat(65)}${']'.repeat(65)}`;
const tooLong = `"x",[${'0,'.repeat(10_000)}0]`;
const tooLarge = Buffer.alloc(11 * 1_048_576, ' ');

/** Only these are certain to be invalid after a cut: a shorter number is still valid JSON. */
function cutOff(request: FuzzRequest, draw: Draw): FuzzRequest {
  const text = JSON.stringify(request.body);
  return withBody(
    request,
    /^[[{"]/.test(text) ? text.slice(0, draw(fc.integer({ min: 1, max: text.length - 1 }))) : '{',
  );
}
function withoutKey({ headers: { authorization: _key, ...headers }, ...request }: FuzzRequest): FuzzRequest {
  return { ...request, headers };
}

/** The rules for all requests, of HTTP, JSON and authentication, which the schemas do not express. */
const protocolRules: readonly (readonly [
  rule: string,
  expected: number,
  applies: (request: FuzzRequest) => boolean,
  mutate: (request: FuzzRequest, draw: Draw) => FuzzRequest,
  probability?: number,
])[] = [
  ['no key', 401, needsKey, withoutKey],
  ['a key that is none', 401, needsKey, (one, draw) => withHeaders(one, { authorization: draw(wrongKeys) })],
  ['a path that is no UTF-8', 400, hasPath, (one, draw) => withPathValue(one, draw(escapes), draw)],
  ['NUL in the path', 400, hasPath, (one, draw) => withPathValue(one, 'a%00b', draw)],
  ['a query that is no UTF-8', 400, hasQuery, (one, draw) => withParameter(one, draw(escapes), draw)],
  ['NUL in the query', 400, hasQuery, (one, draw) => withParameter(one, 'a%00b', draw)],
  ['an address that is too long', 414, any, (one) => withQuery(one, `padding=${'x'.repeat(9_000)}`)],
  ['a query of too many parameters', 414, any, (one) => withQuery(one, manyParameters)],
  ['headers that are too large', 431, any, (one) => withHeaders(one, { 'x-padding': 'x'.repeat(20_000) })],
  ['too many headers', 431, any, (one) => withHeaders(one, manyHeaders)],
  ['another content type', 415, requiresJson, (one, draw) => withHeaders(one, { 'content-type': draw(otherTypes) })],
  ['a compressed body', 415, requiresJson, (one) => withHeaders(one, { 'content-encoding': 'gzip' })],
  ['JSON that is cut off', 400, takesBody, cutOff],
  ['what is no JSON', 400, takesBody, (one, draw) => withBody(one, draw(noJson))],
  ['bytes that are no UTF-8', 400, takesBody, (one) => withBody(one, Buffer.from([0x22, 0xc3, 0x28, 0x22]))],
  ['NUL in text', 400, storesBody, (one) => withJson(one, String.raw`"a\u0000b"`)],
  ['half a surrogate pair', 400, storesBody, (one) => withJson(one, String.raw`"a\ud83d"`)],
  ['nested too deeply', 400, takesBody, (one) => withJson(one, tooDeep)],
  ['a key that leads to a prototype', 400, storesBody, (one) => withJson(one, '{"__proto__":{"a":1}}')],
  ['a list that is too long', 400, takesBody, (one) => withJson(one, tooLong), 0.2],
  ['a body that is too large', 413, takesBody, (one) => withBody(one, tooLarge), 0.05],
];

const breakProtocol: Break = (request, draw) => {
  const [rule, expected, applies, mutate, probability = 1] = draw(fc.constantFrom(...protocolRules));
  if (!applies(request) || !draw(chance(probability))) return undefined;
  return { request: mutate(request, draw), rule, expected };
};
