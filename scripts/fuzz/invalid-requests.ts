import type { ApiDescription, DescribedOperation, Schema } from './api-description.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { type FuzzRequest, targetOf } from './valid-requests.ts';

/** A request that breaks one rule, and the status of the expected response. */
export interface InvalidRequest {
  readonly request: FuzzRequest;
  readonly rule: string;
  readonly expected: number;
}

type Path = readonly (string | number)[];

/** A replacement of a value, or of one of its members, that should break a rule of its schema. */
interface Mutation {
  readonly rule: string;
  /** the path to the replaced member; empty for the value itself */
  readonly path: Path;
  /** the replacement; `removed` removes the member */
  readonly value: unknown;
}

const removed = Symbol('removed');

/** A copy of a value with the member at a path replaced or removed. */
const replaceAt = (value: unknown, path: Path, replacement: unknown): unknown => {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  if (Array.isArray(value))
    return value.map((item, index) => (index === key ? replaceAt(item, rest, replacement) : item));
  const otherMembers = Object.entries(value as Record<string, unknown>).filter(([name]) => name !== key);
  const before = (value as Record<string, unknown>)[key];
  const after = replaceAt(before, rest, replacement);
  return Object.fromEntries(after === removed ? otherMembers : [...otherMembers, [key, after]]);
};

/** One value of each type of JSON Schema. */
const valuesOfAllTypes = ['text', 7.5, 7, true, null, [], {}];

interface MutationContext {
  readonly description: ApiDescription;
  readonly random: SeededRandom;
}

/** Mutations of a value and its members, one for each rule of the schema. Some do not break their rule in the end. */
const mutationsOf = (context: MutationContext, reference: Schema, value: unknown, path: Path): Mutation[] => {
  const { description, random } = context;
  const schema = description.resolve(reference);
  const mutations: Mutation[] = [];
  const add = (rule: string, replacement: unknown): void => void mutations.push({ rule, path, value: replacement });
  const { minLength = 0, maxLength, minimum, maximum, minItems = 0, maxItems } = schema;

  add('wrong type', random.pick(valuesOfAllTypes));
  if (schema.enum !== undefined || schema.const !== undefined) add('not among the values', 'none of them');
  if (minLength > 0) add('too short', 'x'.repeat(minLength - 1));
  if (maxLength !== undefined && maxLength < 10_000) add('too long', 'x'.repeat(maxLength + 1));
  if (schema.pattern !== undefined) add('not of the pattern', '\u0001 no \u0002');
  if (schema.format !== undefined) add('not of the format', 'neither date nor address');
  if (minimum !== undefined) add('too small', minimum - 1);
  if (maximum !== undefined) add('too large', maximum + 1);
  if (schema.exclusiveMinimum !== undefined) add('too small', schema.exclusiveMinimum);
  if (schema.exclusiveMaximum !== undefined) add('too large', schema.exclusiveMaximum);
  if (schema.multipleOf !== undefined) add('between the steps', (minimum ?? 0) + schema.multipleOf / 2);

  const branch = (schema.anyOf ?? schema.oneOf)?.map(description.resolve).find(({ type }) => type !== 'null');
  if (branch !== undefined && value !== null) mutations.push(...mutationsOf(context, branch, value, path));

  if (Array.isArray(value)) {
    if (minItems > 0) add('too few items', value.slice(0, minItems - 1));
    if (maxItems !== undefined && maxItems < 2_000 && value.length > 0) {
      add(
        'too many items',
        Array.from({ length: maxItems + 1 }, (_, index) => value[index % value.length] as unknown),
      );
    }
    if (schema.uniqueItems === true && value.length > 0) add('the same item twice', [...value, value[0]]);
    const index = value.length === 0 ? 0 : random.integer(0, value.length - 1);
    if (schema.items !== undefined && index < value.length) {
      mutations.push(...mutationsOf(context, schema.items, value[index], [...path, index]));
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const name of schema.required ?? []) {
      mutations.push({ rule: 'required, and not there', path: [...path, name], value: removed });
    }
    if (schema.additionalProperties === false) {
      mutations.push({ rule: 'an unknown property', path: [...path, 'unknownProperty'], value: 1 });
    }
    const { additionalProperties } = schema;
    for (const [name, member] of Object.entries(value)) {
      const memberSchema =
        schema.properties?.[name] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
      if (memberSchema !== undefined) mutations.push(...mutationsOf(context, memberSchema, member, [...path, name]));
    }
  }
  return mutations;
};

/** Picks a mutation after which the value is invalid. Every rule is equally likely; undefined if none was found in some attempts. */
const pickMutation = (
  mutations: readonly Mutation[],
  random: SeededRandom,
  isInvalidAfter: (mutation: Mutation) => boolean,
): Mutation | undefined => {
  const byRule = [...Map.groupBy(mutations, ({ rule }) => rule).values()];
  for (let attempt = 0; attempt < 12 && byRule.length > 0; attempt++) {
    const mutation = random.pick(random.pick(byRule));
    if (isInvalidAfter(mutation)) return mutation;
  }
  return undefined;
};

/** Makes a valid request invalid; undefined if it has nothing that can be mutated in this way. */
type RequestMutator = (request: FuzzRequest, random: SeededRandom) => InvalidRequest | undefined;

const withHeaders = (request: FuzzRequest, headers: Readonly<Record<string, string>>): FuzzRequest => ({
  ...request,
  headers: { ...request.headers, ...headers },
});

const withRawBody = (request: FuzzRequest, text: string | Buffer): FuzzRequest => ({
  ...request,
  rawBody: typeof text === 'string' ? Buffer.from(text) : text,
});

const needsKey = ({ operation }: FuzzRequest): boolean => operation.needsKey;
const hasPathParameters = ({ operation }: FuzzRequest): boolean => operation.pathParameters.length > 0;
const hasQueryParameters = ({ operation }: FuzzRequest): boolean => operation.queryParameters.length > 0;
const takesBody = ({ operation }: FuzzRequest): boolean => operation.body !== undefined;
/** Contexts are not stored, and reports of usage lose what cannot be, so that neither is refused for it. */
const takesStoredBody = (request: FuzzRequest): boolean =>
  takesBody(request) && !/^\/(ofrep|api\/(frontend|client\/metrics))/.test(request.operation.path);
/** Whether the operation refuses bodies of other content types. */
const requiresJson = (request: FuzzRequest): boolean => takesBody(request) && request.operation.responses.has(415);

/** Replaces the value of one path parameter by text that is sent without further encoding. */
const withRawPathValue = (request: FuzzRequest, rawValue: string, random: SeededRandom): FuzzRequest => {
  const { name } = random.pick(request.operation.pathParameters);
  const placeholder = 'MARKED';
  const target = targetOf({ ...request, pathValues: { ...request.pathValues, [name]: placeholder } });
  return { ...request, rawTarget: target.replace(placeholder, rawValue) };
};

/** Appends text to the query, without further encoding. */
const withRawQuery = (request: FuzzRequest, rawQuery: string): FuzzRequest => {
  const target = targetOf(request);
  return { ...request, rawTarget: `${target}${target.includes('?') ? '&' : '?'}${rawQuery}` };
};

/** Replaces the first string value in the JSON of the body by other JSON text, or, where there is none, the body by a list of that text. */
const withRawJsonValue = (request: FuzzRequest, rawValue: string): FuzzRequest => {
  const text = JSON.stringify(request.body);
  const stringValue = /"(?:[^"\\]|\\.)*"(?=[,}\]])/.exec(text);
  if (stringValue === null) return withRawBody(request, `[${rawValue}]`);
  const { 0: replaced, index } = stringValue;
  return withRawBody(request, `${text.slice(0, index)}${rawValue}${text.slice(index + replaced.length)}`);
};

/** Percent-escapes that are malformed or are no UTF-8. */
const invalidEscapes = ['%zz', '%ff', '%C3%28', '%'];
const tooDeepJson = `${'['.repeat(65)}${']'.repeat(65)}`;
const tooLongArray = `[${'0,'.repeat(10_000)}0]`;
const megabyte = 1_048_576;

/** The rules for all requests, of HTTP, JSON and authentication, which the schemas do not express. */
const protocolRules: readonly {
  readonly rule: string;
  readonly expected: number;
  /** whether the request can break the rule; by default any can */
  readonly appliesTo?: (request: FuzzRequest) => boolean;
  /** the probability with which the rule is broken when it was picked; 1 by default */
  readonly probability?: number;
  readonly mutate: (request: FuzzRequest, random: SeededRandom) => FuzzRequest;
}[] = [
  {
    rule: 'no key',
    expected: 401,
    appliesTo: needsKey,
    mutate: (request) => {
      const { authorization: _key, ...headers } = request.headers;
      return { ...request, headers };
    },
  },
  {
    rule: 'a key that is none',
    expected: 401,
    appliesTo: needsKey,
    mutate: (request, random) =>
      withHeaders(request, { authorization: random.pick(['*:*.0000', 'Bearer nonsense', 'x'.repeat(600), 'user:']) }),
  },
  {
    rule: 'a path that is no UTF-8',
    expected: 400,
    appliesTo: hasPathParameters,
    mutate: (request, random) => withRawPathValue(request, random.pick(invalidEscapes), random),
  },
  {
    rule: 'NUL in the path',
    expected: 400,
    appliesTo: hasPathParameters,
    mutate: (request, random) => withRawPathValue(request, 'a%00b', random),
  },
  {
    rule: 'a query that is no UTF-8',
    expected: 400,
    appliesTo: hasQueryParameters,
    mutate: (request, random) =>
      withRawQuery(request, `${random.pick(request.operation.queryParameters).name}=${random.pick(invalidEscapes)}`),
  },
  {
    rule: 'NUL in the query',
    expected: 400,
    appliesTo: hasQueryParameters,
    mutate: (request, random) => withRawQuery(request, `${random.pick(request.operation.queryParameters).name}=a%00b`),
  },
  {
    rule: 'an address that is too long',
    expected: 414,
    mutate: (request) => withRawQuery(request, `padding=${'x'.repeat(9_000)}`),
  },
  {
    rule: 'a query of too many parameters',
    expected: 414,
    mutate: (request) => withRawQuery(request, Array.from({ length: 300 }, (_, nth) => `p${nth}`).join('&')),
  },
  {
    rule: 'headers that are too large',
    expected: 431,
    mutate: (request) => withHeaders(request, { 'x-padding': 'x'.repeat(20_000) }),
  },
  {
    rule: 'too many headers',
    expected: 431,
    mutate: (request) =>
      withHeaders(request, Object.fromEntries(Array.from({ length: 120 }, (_, nth) => [`x-${nth}`, '1']))),
  },
  {
    rule: 'another content type',
    expected: 415,
    appliesTo: requiresJson,
    mutate: (request, random) =>
      withHeaders(request, {
        'content-type': random.pick([
          'text/plain',
          'application/json-patch+json',
          'application/xml',
          'application/json; charset=latin1',
        ]),
      }),
  },
  {
    rule: 'a compressed body',
    expected: 415,
    appliesTo: requiresJson,
    mutate: (request) => withHeaders(request, { 'content-encoding': 'gzip' }),
  },
  {
    rule: 'JSON that is cut off',
    expected: 400,
    appliesTo: takesBody,
    mutate: (request, random) => {
      const text = JSON.stringify(request.body);
      // Only these are certain to be invalid after a cut: a shorter number is still valid JSON.
      return withRawBody(request, /^[[{"]/.test(text) ? text.slice(0, random.integer(1, text.length - 1)) : '{');
    },
  },
  {
    rule: 'what is no JSON',
    expected: 400,
    appliesTo: takesBody,
    mutate: (request, random) =>
      withRawBody(request, random.pick(['nonsense', '{a:1}', "{'a':1}", '[1,]', '\u0000', '01', '{"a":1}}'])),
  },
  {
    rule: 'bytes that are no UTF-8',
    expected: 400,
    appliesTo: takesBody,
    mutate: (request) => withRawBody(request, Buffer.from([0x22, 0xc3, 0x28, 0x22])),
  },
  {
    rule: 'NUL in text',
    expected: 400,
    appliesTo: takesStoredBody,
    mutate: (request) => withRawJsonValue(request, String.raw`"a\u0000b"`),
  },
  {
    rule: 'half a surrogate pair',
    expected: 400,
    appliesTo: takesStoredBody,
    mutate: (request) => withRawJsonValue(request, String.raw`"a\ud83d"`),
  },
  {
    rule: 'nested too deeply',
    expected: 400,
    appliesTo: takesBody,
    mutate: (request) => withRawJsonValue(request, tooDeepJson),
  },
  {
    rule: 'a key that leads to a prototype',
    expected: 400,
    appliesTo: takesStoredBody,
    mutate: (request) => withRawJsonValue(request, '{"__proto__":{"a":1}}'),
  },
  {
    rule: 'a list that is too long',
    expected: 400,
    appliesTo: takesBody,
    probability: 0.2,
    mutate: (request) => withRawJsonValue(request, `"x",${tooLongArray}`),
  },
  {
    rule: 'a body that is too large',
    expected: 413,
    appliesTo: takesBody,
    probability: 0.05,
    mutate: (request) => withRawBody(request, Buffer.alloc(11 * megabyte, ' ')),
  },
];

/** Derives invalid requests from valid ones. Each breaks one rule, which it names. */
export const invalidRequests = (
  description: ApiDescription,
): ((request: FuzzRequest, random: SeededRandom) => InvalidRequest) => {
  const mutateBody: RequestMutator = (request, random) => {
    const { operation, body } = request;
    if (operation.body === undefined) return undefined;
    const mutations = mutationsOf({ description, random }, operation.body, body, []);
    const mutation = pickMutation(mutations, random, ({ path, value }) => {
      const mutated = replaceAt(body, path, value);
      return mutated !== removed && operation.validateBody(mutated) !== undefined;
    });
    if (mutation === undefined) return undefined;
    return {
      request: { ...request, body: replaceAt(body, mutation.path, mutation.value) },
      rule: `body: ${mutation.rule}`,
      expected: 400,
    };
  };

  /** A mutation whose value, written as text, violates the schema of a parameter, or of the items of a parameter that is a list. */
  const pickParameterMutation = (
    operation: DescribedOperation,
    name: string,
    schema: Schema,
    random: SeededRandom,
  ): Mutation | undefined => {
    const { type, items } = description.resolve(schema);
    const isList = type === 'array';
    const mutations = mutationsOf({ description, random }, isList ? (items ?? {}) : schema, '', []).filter(
      ({ value }) => ['string', 'number'].includes(typeof value) && value !== '',
    );
    return pickMutation(mutations, random, ({ value }) => {
      const text = String(value);
      return operation.validateParameter.get(name)?.(isList ? [text] : text) !== undefined;
    });
  };

  const mutatePath: RequestMutator = (request, random) => {
    const { operation } = request;
    for (const { name, schema } of random.shuffled(operation.pathParameters)) {
      const mutation = pickParameterMutation(operation, name, schema, random);
      if (mutation === undefined) continue;
      const pathValues = { ...request.pathValues, [name]: String(mutation.value) };
      return { request: { ...request, pathValues }, rule: `path: ${mutation.rule}`, expected: 400 };
    }
    return undefined;
  };

  const mutateQuery: RequestMutator = (request, random) => {
    const { operation } = request;
    if (operation.queryParameters.length === 0) return undefined;
    const { name, schema } = random.pick(operation.queryParameters);
    const otherParameters = request.query.filter(([parameter]) => parameter !== name);
    const { type } = description.resolve(schema);
    if (type !== 'array' && random.chance(0.2)) {
      return {
        request: { ...request, query: [...otherParameters, [name, 'a'], [name, 'b']] },
        rule: 'query: said twice',
        expected: 400,
      };
    }
    const mutation = pickParameterMutation(operation, name, schema, random);
    if (mutation === undefined) return undefined;
    return {
      request: { ...request, query: [...otherParameters, [name, String(mutation.value)]] },
      rule: `query: ${mutation.rule}`,
      expected: 400,
    };
  };

  const breakProtocolRule: RequestMutator = (request, random) => {
    const { rule, expected, appliesTo = () => true, probability = 1, mutate } = random.pick(protocolRules);
    if (!appliesTo(request) || !random.chance(probability)) return undefined;
    return { request: mutate(request, random), rule, expected };
  };

  // A mutator that is listed more often is picked more often: most rules come from schemas.
  const mutators = [
    mutateBody,
    mutateBody,
    mutateBody,
    mutatePath,
    mutateQuery,
    mutateQuery,
    breakProtocolRule,
    breakProtocolRule,
  ];
  return (request, random) => {
    for (;;) {
      const invalid = random.pick(mutators)(request, random);
      if (invalid !== undefined) return invalid;
    }
  };
};
