import fc from 'fast-check';
import type { Schema } from './api-description.ts';

/** Draws values of arbitraries, the same ones for the same seed. */
export type Draw = <T>(arbitrary: fc.Arbitrary<T>) => T;

/** The draws for the nth request of a run: they do not depend on those of earlier requests. */
export function drawsOf(seed: number, nth: number): Draw {
  const mixed = Math.imul(seed, 0x9e3779b1) ^ Math.imul(nth + 1, 0x85ebca6b);
  const [generate] = fc.sample(fc.gen(), { seed: mixed, numRuns: 1 });
  return (arbitrary) => (generate as fc.GeneratorValue)(() => arbitrary);
}

/** True with a probability. */
export function chance(probability: number): fc.Arbitrary<boolean> {
  return fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }).map((fraction) => fraction < probability);
}

interface ValueContext {
  readonly resolve: (schema: Schema) => Schema;
  /** whether the request should succeed: few optional properties, nothing unusual, mostly objects that exist */
  readonly isPlain: boolean;
  /** identifiers of objects that exist, by the name of a parameter or property; those of the request's own path come first */
  readonly identifiersOf: (name: string) => readonly string[];
}

/** Values that are nested more deeply get few members. */
const maxFullDepth = 5;
/** How many different names created objects get, which bounds the number of objects in a long run. */
const generatedNames = 80;
const words = [
  'release',
  'experiment',
  'default',
  'flexibleRollout',
  'userId',
  'appName',
  'simple',
  'blue',
  'eu',
  '50',
];
const freeKeys = [...words, 'rollout', 'stickiness', 'groupId'];
const dateTimes = ['2026-11-21T10:00:00.000Z', '1999-12-31T23:59:59+14:00', '2040-02-29T00:00:00Z'];
/** JSON pointers of patches: the members of a feature, and odd ones. */
const pointers = [
  '/title',
  '/description',
  '/stale',
  '/type',
  '/parameters/rollout',
  '/constraints/-',
  '/variants/-',
].concat(['/constraints/0/values/-', '/0/name', '/0', '', '/nothing', '/__proto__/a', '/a~1b~0c']);
/** Texts that match the patterns of search filters and the like. */
const patterned = [
  'IS:7',
  'IS_ANY_OF:default,other',
  'INCLUDE:simple:blue',
  'EXCLUDE_ALL:simple:blue,simple:green',
].concat([
  'IS_BEFORE:2026-11-21',
  'development:enabled',
  '#aabbcc',
  '0a'.repeat(32),
  'abc',
  '123',
  'a:b',
  '1.2.3',
  'environment:development',
]);
/** Texts that programs often mishandle, beyond the random ones. */
const unusual = [
  "'; drop table feature; --",
  '%_%',
  '%2F',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '\u202eright',
].concat(['.', '..', ' ', 'e\u0301', '👩‍👩‍👧‍👦', '\ufeff', 'İ', '𝒳'.repeat(20), 'x'.repeat(101), 'x'.repeat(300)]);
/** Usual values of properties whose meaning the schema does not express. */
const usual: Readonly<Record<string, readonly string[]>> = {
  email: ['fuzz-1@example.org', 'fuzz-2@example.org', 'Ärger@example.org', 'unknown'],
  type: ['release', 'experiment', 'simple', 'client', 'frontend', 'admin', 'development', 'custom'],
  expiresAt: ['2040-01-01T00:00:00.000Z', '2001-01-01T00:00:00Z'],
  operator: ['IN', 'NOT_IN', 'STR_CONTAINS'],
};

// Made once: fast-check goes through all of Unicode for it.
const anyText = fc.string({ unit: 'binary' }).map((text) => text.toWellFormed());
const anyJson = fc.jsonValue();
const shallowJson = fc.jsonValue({ maxDepth: 2 });

/** Values that match a schema. @param property the name of the property or parameter that has it */
export function valuesOf(reference: Schema, property: string, context: ValueContext, depth = 0): fc.Arbitrary<unknown> {
  const schema = context.resolve(reference);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) {
    const known = usual[property]?.filter((value) => schema.enum?.includes(value)) ?? [];
    return fc.constantFrom(...(context.isPlain && known.length > 0 ? known : schema.enum));
  }
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches !== undefined) {
    const { anyOf: _any, oneOf: _one, ...base } = schema;
    return fc
      .constantFrom(...branches)
      .chain((branch) => valuesOf(narrow(base, context.resolve(branch)), property, context, depth));
  }
  if (schema.allOf !== undefined) {
    const { allOf, ...base } = schema;
    return valuesOf(Object.assign({}, base, ...allOf.map(context.resolve)) as Schema, property, context, depth);
  }
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['any']);
  return fc.constantFrom(...types).chain((type) => valuesOfType(type, schema, property, context, depth));
}

function valuesOfType(
  type: string,
  schema: Schema,
  property: string,
  context: ValueContext,
  depth: number,
): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return numbers(schema, property, type === 'integer', context);
    case 'string':
      return texts(schema, property, context);
    case 'array': {
      const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items = {} } = schema;
      const most = Math.min(maxItems, Math.max(minItems, depth > maxFullDepth ? 1 : context.isPlain ? 2 : 4));
      const lengths = { minLength: Math.min(most, Math.max(minItems, context.isPlain ? 1 : 0)), maxLength: most };
      const list = fc.array(valuesOf(items, property, context, depth + 1), lengths);
      if (schema.uniqueItems !== true) return list;
      return list.map((all) => [...new Map(all.map((item) => [JSON.stringify(item), item])).values()]);
    }
    default:
      return type === 'object' || schema.properties !== undefined
        ? objects(schema, context, depth)
        : fc.oneof(fc.constant(null), shallowJson, texts({}, property, context));
  }
}

/** The schema that requires a base and one of its branches. Keywords that the branch lacks come from the base. */
function narrow(base: Schema, branch: Schema): Schema {
  return {
    ...base,
    ...branch,
    ...(base.properties === undefined ? {} : { properties: { ...base.properties, ...branch.properties } }),
    ...(base.required === undefined ? {} : { required: [...base.required, ...(branch.required ?? [])] }),
  };
}

function objects(schema: Schema, context: ValueContext, depth: number): fc.Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [], patternProperties = {}, additionalProperties } = schema;
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const most = depth > maxFullDepth ? Math.ceil(optional.length / 10) : optional.length;
  const chosen = fc
    .constantFrom(...(context.isPlain ? [0.1, 0.4, 0.8] : [0.5, 1]))
    .chain((share) => fc.subarray(optional, { maxLength: Math.min(most, Math.ceil(optional.length * share)) }));
  const declared = chosen.chain((names) => {
    const present = Object.keys(properties).filter((name) => required.includes(name) || names.includes(name));
    return fc.record(
      Object.fromEntries(present.map((name) => [name, valuesOf(properties[name] ?? {}, name, context, depth + 1)])),
    );
  });
  const member = Object.values(patternProperties)[0] ?? additionalProperties;
  if (member === false || (typeof member !== 'object' && context.isPlain)) return declared;
  const keys =
    context.isPlain && depth > 0 ? fc.constantFrom(...freeKeys) : fc.constantFrom(...freeKeys, 'somethingElse');
  const values = typeof member === 'object' ? valuesOf(member, 'rollout', context, depth + 1) : anyJson;
  const free = fc.dictionary(keys, values, { maxKeys: typeof member === 'object' ? 3 : 1 });
  return fc.tuple(free, declared).map(([more, own]) => ({ ...more, ...own }));
}

function numbers(
  schema: Schema,
  property: string,
  isInteger: boolean,
  { identifiersOf }: ValueContext,
): fc.Arbitrary<number> {
  const step = schema.multipleOf ?? (isInteger ? 1 : 0.001);
  const least = schema.minimum ?? schema.exclusiveMinimum ?? -5;
  const most = schema.maximum ?? schema.exclusiveMaximum ?? Math.max(least, 0) + 200;
  const random = fc
    .integer({ min: Math.ceil(least / step), max: Math.floor(most / step) })
    .map((steps) => (step < 1 ? Number((steps * step).toFixed(3)) : steps * step));
  const known = identifiersOf(property).map(Number).filter(Number.isSafeInteger);
  return known.length === 0 ? random : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, random);
}

/** Text of a schema, often the identifier of an object that exists. */
function texts(schema: Schema, property: string, context: ValueContext): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = 100, pattern, format } = schema;
  const known = context.identifiersOf(property);
  const weighted = (weight: number, list: readonly string[] = []) =>
    list.length === 0 ? [] : [{ weight, arbitrary: fc.constantFrom(...list) }];
  const candidates = fc.oneof(
    ...weighted(pattern === undefined ? 0 : 4, patterned),
    ...weighted(6, usual[property]),
    ...weighted(format === 'date-time' ? 20 : 1, dateTimes),
    ...weighted(format === 'uri' ? 20 : 0, ['https://example.org/path?query=1']),
    ...weighted(context.isPlain ? 30 : 6, known),
    ...weighted(property === 'path' || property === 'from' ? 20 : 0, pointers),
    ...weighted(context.isPlain ? 0 : 1, unusual),
    ...(context.isPlain ? [] : [{ weight: 1, arbitrary: anyText }]),
    ...weighted(3, words),
    { weight: 4, arbitrary: fc.nat(generatedNames - 1).map((nth) => `fuzz-${nth}`) },
  );
  const matches = (text: string): boolean => {
    // JSON Schema counts code points.
    const { length } = [...text];
    return length >= minLength && length <= (schema.maxLength ?? length) && new RegExp(pattern ?? '', 'u').test(text);
  };
  const fallback = 'abcdefghij'.repeat(Math.ceil(Math.max(minLength, 1) / 10));
  return fc
    .array(candidates, { minLength: 10, maxLength: 10 })
    .map((list) => list.find(matches) ?? fallback.slice(0, Math.min(maxLength, Math.max(minLength, 3))));
}
