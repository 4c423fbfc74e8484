import type { ApiDescription, DescribedOperation, Schema } from './api-description.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { type FuzzRequest, targetOf } from './valid-requests.ts';

/** A request that breaks one rule, and the expected response. */
export interface InvalidRequest {
  readonly request: FuzzRequest;
  readonly rule: string;
  readonly expected: number;
}

type Path = readonly (string | number)[];

/** One way to break a value: which rule, where, and by what. */
interface Crack {
  readonly rule: string;
  readonly path: Path;
  /** undefined removes the member */
  readonly value: unknown;
}

const without = Symbol('without');

const changedAt = (value: unknown, path: Path, to: unknown): unknown => {
  const [key, ...rest] = path;
  if (key === undefined) return to;
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? changedAt(item, rest, to) : item));
  const members = Object.entries(value as Record<string, unknown>).filter(([name]) => name !== key);
  const before = (value as Record<string, unknown>)[key];
  const changed = changedAt(before, rest, to);
  return Object.fromEntries(changed === without ? members : [...members, [key, changed]]);
};

const ofType: Readonly<Record<string, unknown>> = {
  string: 'text',
  number: 7.5,
  integer: 7,
  boolean: true,
  null: null,
  array: [],
  object: {},
};

interface CrackContext {
  readonly description: ApiDescription;
  readonly random: SeededRandom;
}

const cracksOf = (context: CrackContext, reference: Schema, value: unknown, path: Path): Crack[] => {
  const { description, random } = context;
  const schema = description.resolve(reference);
  const cracks: Crack[] = [];
  const crack = (rule: string, to: unknown): void => void cracks.push({ rule, path, value: to });
  const { minLength = 0, maxLength, minimum, maximum, minItems = 0, maxItems } = schema;

  crack('wrong type', random.pick(Object.values(ofType)));
  if (schema.enum !== undefined || schema.const !== undefined) crack('not among the values', 'none of them');
  if (minLength > 0) crack('too short', 'x'.repeat(minLength - 1));
  if (maxLength !== undefined && maxLength < 10_000) crack('too long', 'x'.repeat(maxLength + 1));
  if (schema.pattern !== undefined) crack('not of the pattern', '\u0001 no \u0002');
  if (schema.format !== undefined) crack('not of the format', 'neither date nor address');
  if (minimum !== undefined) crack('too small', minimum - 1);
  if (maximum !== undefined) crack('too large', maximum + 1);
  if (schema.exclusiveMinimum !== undefined) crack('too small', schema.exclusiveMinimum);
  if (schema.exclusiveMaximum !== undefined) crack('too large', schema.exclusiveMaximum);
  if (schema.multipleOf !== undefined) crack('between the steps', (minimum ?? 0) + schema.multipleOf / 2);

  const branch = (schema.anyOf ?? schema.oneOf)?.map(description.resolve).find((one) => one.type !== 'null');
  if (branch !== undefined && value !== null) cracks.push(...cracksOf(context, branch, value, path));

  if (Array.isArray(value)) {
    if (minItems > 0) crack('too few items', value.slice(0, minItems - 1));
    if (maxItems !== undefined && maxItems < 2_000 && value.length > 0) {
      crack(
        'too many items',
        Array.from({ length: maxItems + 1 }, (_, index) => value[index % value.length] as unknown),
      );
    }
    if (schema.uniqueItems === true && value.length > 0) crack('the same item twice', [...value, value[0]]);
    const index = value.length === 0 ? 0 : random.integer(0, value.length - 1);
    if (schema.items !== undefined && index < value.length) {
      cracks.push(...cracksOf(context, schema.items, value[index], [...path, index]));
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const name of schema.required ?? []) {
      cracks.push({ rule: 'required, and not there', path: [...path, name], value: without });
    }
    if (schema.additionalProperties === false) {
      cracks.push({ rule: 'an unknown property', path: [...path, 'unknownProperty'], value: 1 });
    }
    const { additionalProperties: others } = schema;
    for (const [name, member] of Object.entries(value)) {
      const inner = schema.properties?.[name] ?? (typeof others === 'object' ? others : undefined);
      if (inner !== undefined) cracks.push(...cracksOf(context, inner, member, [...path, name]));
    }
  }
  return cracks;
};

/** One of the cracks, each rule as likely as every other, that really breaks the value. */
const pickCrack = (
  cracks: readonly Crack[],
  random: SeededRandom,
  breaks: (crack: Crack) => boolean,
): Crack | undefined => {
  const byRule = [...Map.groupBy(cracks, ({ rule }) => rule).values()];
  for (let attempt = 0; attempt < 12 && byRule.length > 0; attempt++) {
    const crack = random.pick(random.pick(byRule));
    if (breaks(crack)) return crack;
  }
  return undefined;
};

type Breakage = (request: FuzzRequest, random: SeededRandom) => InvalidRequest | undefined;

const header = (request: FuzzRequest, headers: Readonly<Record<string, string>>): FuzzRequest => ({
  ...request,
  headers: { ...request.headers, ...headers },
});

const raw = (request: FuzzRequest, text: string | Buffer): FuzzRequest => ({
  ...request,
  rawBody: typeof text === 'string' ? Buffer.from(text) : text,
});

const needsKey = ({ operation }: FuzzRequest): boolean => operation.needsKey;
const hasPathParameters = ({ operation }: FuzzRequest): boolean => operation.pathParameters.length > 0;
const takesBody = ({ operation }: FuzzRequest): boolean => operation.body !== undefined;
/** Where a body is read that must be JSON, whatever else the operation allows. */
const demandsJson = ({ operation }: FuzzRequest): boolean =>
  takesBody({ operation } as FuzzRequest) && operation.responses.has(415);

/** The target with the value of one parameter of the path written just so. */
const pathWith = (request: FuzzRequest, written: string, random: SeededRandom): FuzzRequest => {
  const { name } = random.pick(request.operation.pathParameters);
  const marked = targetOf({ ...request, values: { ...request.values, [name]: 'MARKED' } });
  return { ...request, rawTarget: marked.replace('MARKED', written) };
};

const withQuery = (request: FuzzRequest, more: string): FuzzRequest => {
  const target = targetOf(request);
  return { ...request, rawTarget: `${target}${target.includes('?') ? '&' : '?'}${more}` };
};

/** The body with one of its texts replaced in its JSON, or a list around all of it. */
const jsonWith = (request: FuzzRequest, written: string): FuzzRequest => {
  const text = JSON.stringify(request.body);
  const place = /"(?:[^"\\]|\\.)*"(?=[,}\]])/.exec(text);
  const changed =
    place === null
      ? `[${written}]`
      : `${text.slice(0, place.index)}${written}${text.slice(place.index + place[0].length)}`;
  return raw(request, changed);
};

const notUtf8 = ['%zz', '%ff', '%C3%28', '%'];
const tooDeep = `${'['.repeat(65)}${']'.repeat(65)}`;
const tooWide = `[${'0,'.repeat(10_000)}0]`;
const megabyte = 1_048_576;

/** Every rule that requests are made to break, beside those of their schemas. */
const breakagesOfForm: readonly {
  readonly rule: string;
  readonly expected: number;
  readonly where?: (request: FuzzRequest) => boolean;
  /** how often it is chosen, 1 when left out */
  readonly often?: number;
  readonly make: (request: FuzzRequest, random: SeededRandom) => FuzzRequest;
}[] = [
  {
    rule: 'no key',
    expected: 401,
    where: needsKey,
    make: (request) => {
      const { authorization: _key, ...headers } = request.headers;
      return { ...request, headers };
    },
  },
  {
    rule: 'a key that is none',
    expected: 401,
    where: needsKey,
    make: (request, random) =>
      header(request, { authorization: random.pick(['*:*.0000', 'Bearer nonsense', 'x'.repeat(600), 'user:']) }),
  },
  {
    rule: 'a path that is no UTF-8',
    expected: 400,
    where: hasPathParameters,
    make: (request, random) => pathWith(request, random.pick(notUtf8), random),
  },
  {
    rule: 'NUL in the path',
    expected: 400,
    where: hasPathParameters,
    make: (request, random) => pathWith(request, 'a%00b', random),
  },
  {
    rule: 'a query that is no UTF-8',
    expected: 400,
    where: ({ operation }) => operation.queryParameters.length > 0,
    make: (request, random) =>
      withQuery(request, `${random.pick(request.operation.queryParameters).name}=${random.pick(notUtf8)}`),
  },
  {
    rule: 'NUL in the query',
    expected: 400,
    where: ({ operation }) => operation.queryParameters.length > 0,
    make: (request, random) => withQuery(request, `${random.pick(request.operation.queryParameters).name}=a%00b`),
  },
  {
    rule: 'an address that is too long',
    expected: 414,
    make: (request) => withQuery(request, `padding=${'x'.repeat(9_000)}`),
  },
  {
    rule: 'a query of too many parameters',
    expected: 414,
    make: (request) => withQuery(request, Array.from({ length: 300 }, (_, nth) => `p${nth}`).join('&')),
  },
  {
    rule: 'headers that are too large',
    expected: 431,
    make: (request) => header(request, { 'x-padding': 'x'.repeat(20_000) }),
  },
  {
    rule: 'too many headers',
    expected: 431,
    make: (request) => header(request, Object.fromEntries(Array.from({ length: 120 }, (_, nth) => [`x-${nth}`, '1']))),
  },
  {
    rule: 'another content type',
    expected: 415,
    where: demandsJson,
    make: (request, random) =>
      header(request, {
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
    where: demandsJson,
    make: (request) => header(request, { 'content-encoding': 'gzip' }),
  },
  {
    rule: 'JSON that is cut off',
    expected: 400,
    where: takesBody,
    make: (request, random) => {
      const text = JSON.stringify(request.body);
      // Cut within it, or, where that is too short to be cut, of another kind altogether.
      return raw(request, /^[[{"]/.test(text) ? text.slice(0, random.integer(1, text.length - 1)) : '{');
    },
  },
  {
    rule: 'what is no JSON',
    expected: 400,
    where: takesBody,
    make: (request, random) =>
      raw(request, random.pick(['nonsense', '{a:1}', "{'a':1}", '[1,]', '\u0000', '01', '{"a":1}}'])),
  },
  {
    rule: 'bytes that are no UTF-8',
    expected: 400,
    where: takesBody,
    make: (request) => raw(request, Buffer.from([0x22, 0xc3, 0x28, 0x22])),
  },
  {
    rule: 'NUL in text',
    expected: 400,
    where: takesBody,
    make: (request) => jsonWith(request, String.raw`"a\u0000b"`),
  },
  {
    rule: 'half a surrogate pair',
    expected: 400,
    where: takesBody,
    make: (request) => jsonWith(request, String.raw`"a\ud83d"`),
  },
  { rule: 'nested too deeply', expected: 400, where: takesBody, make: (request) => jsonWith(request, tooDeep) },
  {
    rule: 'a key that leads to a prototype',
    expected: 400,
    where: takesBody,
    make: (request) => jsonWith(request, '{"__proto__":{"a":1}}'),
  },
  {
    rule: 'a list that is too long',
    expected: 400,
    where: takesBody,
    often: 0.2,
    make: (request) => jsonWith(request, `"x",${tooWide}`),
  },
  {
    rule: 'a body that is too large',
    expected: 413,
    where: takesBody,
    often: 0.05,
    make: (request) => raw(request, Buffer.alloc(11 * megabyte, ' ')),
  },
];

/** Derives invalid requests from valid ones. Each breaks one rule, which it names. */
export const invalidRequests = (
  description: ApiDescription,
): ((request: FuzzRequest, random: SeededRandom) => InvalidRequest) => {
  const bodyCrack: Breakage = (request, random) => {
    const { operation, body } = request;
    if (operation.body === undefined) return undefined;
    const crack = pickCrack(cracksOf({ description, random }, operation.body, body, []), random, ({ path, value }) => {
      const changed = changedAt(body, path, value);
      return changed !== without && operation.fitsBody(changed) !== undefined;
    });
    if (crack === undefined) return undefined;
    return {
      request: { ...request, body: changedAt(body, crack.path, crack.value) },
      rule: `body: ${crack.rule}`,
      expected: 400,
    };
  };

  /** Text that breaks the schema of a parameter, or of the items of one that is a list. */
  const crackedText = (
    operation: DescribedOperation,
    name: string,
    schema: Schema,
    random: SeededRandom,
  ): Crack | undefined => {
    const { type, items } = description.resolve(schema);
    const isList = type === 'array';
    const cracks = cracksOf({ description, random }, isList ? (items ?? {}) : schema, '', []).filter(
      ({ value }) => ['string', 'number'].includes(typeof value) && value !== '',
    );
    const breaks = ({ value }: Crack): boolean => {
      const written = String(value);
      return operation.fitsParameter.get(name)?.(isList ? [written] : written) !== undefined;
    };
    return pickCrack(cracks, random, breaks);
  };

  const pathCrack: Breakage = (request, random) => {
    const { operation } = request;
    for (const { name, schema } of operation.pathParameters.toSorted(() => random.fraction() - 0.5)) {
      const crack = crackedText(operation, name, schema, random);
      if (crack === undefined) continue;
      const values = { ...request.values, [name]: String(crack.value) };
      return { request: { ...request, values }, rule: `path: ${crack.rule}`, expected: 400 };
    }
    return undefined;
  };

  const queryCrack: Breakage = (request, random) => {
    const { operation } = request;
    if (operation.queryParameters.length === 0) return undefined;
    const { name, schema } = random.pick(operation.queryParameters);
    const others = request.query.filter(([parameter]) => parameter !== name);
    const { type } = description.resolve(schema);
    if (type !== 'array' && random.chance(0.2)) {
      return {
        request: { ...request, query: [...others, [name, 'a'], [name, 'b']] },
        rule: 'query: said twice',
        expected: 400,
      };
    }
    const crack = crackedText(operation, name, schema, random);
    if (crack === undefined) return undefined;
    return {
      request: { ...request, query: [...others, [name, String(crack.value)]] },
      rule: `query: ${crack.rule}`,
      expected: 400,
    };
  };

  const form: Breakage = (request, random) => {
    const { rule, expected, where = () => true, often = 1, make } = random.pick(breakagesOfForm);
    if (!where(request) || !random.chance(often)) return undefined;
    return { request: make(request, random), rule, expected };
  };

  // Most rules come from schemas.
  const all = [bodyCrack, bodyCrack, bodyCrack, pathCrack, queryCrack, queryCrack, form, form];
  return (request, random) => {
    for (;;) {
      const broken = random.pick(all)(request, random);
      if (broken !== undefined) return broken;
    }
  };
};
