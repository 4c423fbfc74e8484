import type { ApiDescription, Schema } from './api-description.ts';
import type { KnownObjects } from './known-objects.ts';
import type { SeededRandom } from '../seeded-random.ts';

/** Text that programs have stumbled over. */
const odd = [
  '.',
  '..',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  '0',
  '-1',
  'true',
  "'; drop table feature; --",
  '" or 1=1',
  '%',
  '%_%',
  '%2F',
  '%00',
  '\\',
  '$1',
  '{{7*7}}',
  '#{7*7}',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  'a/b',
  'a?b#c',
  'a b',
  ' ',
  '\t\n',
  'é',
  'e\u0301',
  'ﬁ',
  '🎏',
  '👩‍👩‍👧‍👦',
  '\u202eright to left',
  '\u200b',
  '\ufeff',
  'İ',
  'ß',
  '𝒳'.repeat(20),
  'x'.repeat(101),
  'x'.repeat(300),
];
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
const dates = ['2026-11-21T10:00:00.000Z', '1999-12-31T23:59:59+14:00', '2040-02-29T00:00:00Z', '2026-11-21T10:00:00Z'];
const patterned = [
  'IS:7',
  'IS:open',
  'IS:default',
  'IS_ANY_OF:default,other',
  'IS_NOT:release',
  'INCLUDE:simple:blue',
  'EXCLUDE_ALL:simple:blue,simple:green',
  'INCLUDE:segment',
  'INCLUDE_ANY_OF:a,b',
  'IS_BEFORE:2026-11-21',
  'IS_ON_OR_AFTER:2020-02-29',
  'development:enabled',
  '#aabbcc',
  'abc',
  '123',
  'a:b',
  '1.2.3',
  'environment:development',
];
/** The targets of the operations of a patch. */
const pointers = [
  '/title',
  '/description',
  '/stale',
  '/type',
  '/disabled',
  '/parameters/rollout',
  '/parameters',
  '/constraints',
  '/constraints/0',
  '/constraints/-',
  '/constraints/0/values/-',
  '/variants/0/weight',
  '/variants/-',
  '/0/name',
  '/-',
  '/0',
  '',
  '/nothing',
  '/__proto__/a',
  '/a~1b~0c',
];

/** The meaning of some properties, which their schemas do not express. */
const meant: Readonly<Record<string, readonly string[]>> = {
  email: ['fuzz-1@example.org', 'fuzz-2@example.org', 'Ärger@example.org', 'unknown'],
  type: ['release', 'experiment', 'simple', 'client', 'frontend', 'admin', 'development', 'custom'],
  expiresAt: ['2040-01-01T00:00:00.000Z', '2040-02-29T23:59:59+14:00', '2001-01-01T00:00:00Z'],
  operator: ['IN', 'NOT_IN', 'STR_CONTAINS'],
};
/** Properties that hold what others are called. */
const calledAlso: Readonly<Record<string, string>> = {
  environmentId: 'environment',
  newProjectId: 'project',
  project: 'projectId',
  projects: 'projectId',
  users: 'userId',
  reviewers: 'userId',
  tokenName: 'apiTokenName',
};

/** The number of different names for created objects, which bounds the number of objects in a long run. */
const names = 80;

/** The context in which the values of one request are generated. */
export interface ValueContext {
  readonly random: SeededRandom;
  /** the request should succeed: few optional properties, no unusual values, and only existing objects */
  readonly plain: boolean;
  /** the type of the objects in the list of the path, or of the object at the path */
  readonly noun: string;
  /** the values that were chosen so far, by name of the parameter, beginning with those of the path */
  readonly within: Record<string, string>;
}

export interface ValueSource {
  /** an object from a reply as a body that updates it: only the properties of the schema */
  saidAgain(schema: Schema, thing: Readonly<Record<string, unknown>>, whim: ValueContext): unknown;
  /** a value that matches the schema; `name` is the name of its property */
  value(schema: Schema, name: string, whim: ValueContext): unknown;
  /** text that matches a schema of text, or of a value that is written as text */
  text(schema: Schema, name: string, whim: ValueContext): string;
}

/** A schema that is narrowed by one of its branches. Keywords that the branch lacks come from the base. */
const both = (base: Schema, branch: Schema): Schema => ({
  ...base,
  ...branch,
  ...(base.properties === undefined ? {} : { properties: { ...base.properties, ...branch.properties } }),
  ...(base.required === undefined ? {} : { required: [...base.required, ...(branch.required ?? [])] }),
});

const lengthOf = (text: string): number => [...text].length;

const fitsText = ({ minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern }: Schema, text: string): boolean =>
  lengthOf(text) >= minLength &&
  lengthOf(text) <= maxLength &&
  (pattern === undefined || new RegExp(pattern, 'u').test(text));

/** Generates values that match their schemas: ordinary and unusual ones, of existing and of unknown objects. */
export const valueSource = ({ resolve }: ApiDescription, known: KnownObjects): ValueSource => {
  /** The existing value of that name. Other values of the request come from the same object where possible. */
  const there = (name: string, whim: ValueContext): string | undefined => {
    const { random, plain, within } = whim;
    if (!random.chance(plain ? 0.9 : 0.5)) return undefined;
    // A bare `name` is that of the object at the path, or of any known object.
    const called = name === 'name' && random.chance(0.5) ? whim.noun : (calledAlso[name] ?? name);
    const spokenOf = within[called];
    if (spokenOf !== undefined && random.chance(0.9)) return spokenOf;
    const named = known.named(called, random, within);
    if (named === undefined) return undefined;
    for (const [parameter, value] of Object.entries(named.where)) within[parameter] ??= value;
    return named.value;
  };

  const candidate = (schema: Schema, name: string, whim: ValueContext): string => {
    const { random, plain } = whim;
    if (schema.pattern !== undefined && random.chance(0.5)) return random.pick(patterned);
    const usual = meant[name];
    if (usual !== undefined && random.chance(0.5)) return random.pick(usual);
    if (schema.format === 'date-time') return random.pick(dates);
    if (schema.format === 'uri') return 'https://example.org/path?query=1';
    const called = there(name, whim);
    if (called !== undefined) return called;
    if (name === 'path' || name === 'from') return random.pick(pointers);
    if (!plain && random.chance(0.2)) return random.pick(odd);
    if (random.chance(0.4)) return random.pick(words);
    if (random.chance(0.1)) return random.pick(dates);
    return `fuzz-${random.integer(0, names - 1)}`;
  };

  const text = (schema: Schema, name: string, whim: ValueContext): string => {
    for (let attempt = 0; attempt < 30; attempt++) {
      const made = candidate(schema, name, whim);
      if (fitsText(schema, made)) return made;
    }
    const { minLength = 0, maxLength = 100 } = schema;
    return 'abcdefghij'
      .repeat(Math.ceil(Math.max(minLength, 1) / 10))
      .slice(0, Math.min(maxLength, Math.max(minLength, 3)));
  };

  const number = (schema: Schema, isInteger: boolean, random: SeededRandom): number => {
    const step = schema.multipleOf ?? (isInteger ? 1 : 0);
    const minimum = schema.minimum ?? schema.exclusiveMinimum ?? -5;
    const maximum = schema.maximum ?? schema.exclusiveMaximum ?? Math.max(minimum, 0) + 200;
    const chosen = random.chance(0.2)
      ? minimum
      : random.chance(0.2)
        ? maximum
        : minimum + random.fraction() * (maximum - minimum);
    if (step === 0) return Math.round(chosen * 1000) / 1000;
    const stepped = Math.round(chosen / step) * step;
    return stepped < minimum ? stepped + step : stepped > maximum ? stepped - step : stepped;
  };

  const list = (schema: Schema, name: string, whim: ValueContext, depth: number): unknown[] => {
    const { random, plain } = whim;
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items = {} } = schema;
    const wanted =
      !plain && random.chance(0.03)
        ? 40
        : depth > 5
          ? random.integer(0, 1)
          : plain
            ? random.integer(1, 2)
            : random.integer(0, 4);
    const count = Math.min(maxItems, Math.max(minItems, wanted));
    const made = Array.from({ length: count }, () => value(items, name, whim, depth + 1));
    return schema.uniqueItems === true ? [...new Map(made.map((item) => [JSON.stringify(item), item])).values()] : made;
  };

  const object = (schema: Schema, whim: ValueContext, depth: number): Record<string, unknown> => {
    const { random, plain } = whim;
    const made: [string, unknown][] = [];
    const often = plain ? random.pick([0.1, 0.4, 0.8]) : depth > 5 ? 0.1 : 0.5;
    const properties = Object.entries(schema.properties ?? {}).toSorted(
      ([one], [other]) => known.depth(calledAlso[other] ?? other) - known.depth(calledAlso[one] ?? one),
    );
    for (const [name, property] of properties) {
      const isNeeded = schema.required?.includes(name) === true;
      if (isNeeded || random.chance(often)) made.push([name, value(property, name, whim, depth + 1)]);
    }
    const { additionalProperties } = schema;
    const more = Object.values(schema.patternProperties ?? {})[0] ?? additionalProperties;
    if (typeof more === 'object') {
      for (let nth = random.integer(0, 3); nth > 0; nth--) {
        const keys = [...words, 'rollout', 'stickiness', 'groupId'];
        const key = (plain && depth === 0 ? there(whim.noun, whim) : undefined) ?? random.pick(keys);
        made.push([key, value(more, 'rollout', whim, depth + 1)]);
      }
    } else if (more !== false && !plain && random.chance(0.05))
      made.push(['somethingElse', random.pick([1, 'x', null, []])]);
    return Object.fromEntries(made);
  };

  const anything = (whim: ValueContext, depth: number): unknown => {
    const { random } = whim;
    return random.pick([
      () => null,
      () => random.chance(0.5),
      () => random.integer(-5, 1_000),
      () => candidate({}, '', whim),
      () => (depth > 5 ? [] : [anything(whim, depth + 1)]),
      () => (depth > 5 ? {} : { [random.pick(words)]: anything(whim, depth + 1) }),
    ])();
  };

  const value = (reference: Schema, name: string, whim: ValueContext, depth = 0): unknown => {
    const { random } = whim;
    const schema = resolve(reference);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum !== undefined) {
      const usual = meant[name]?.filter((one) => schema.enum?.includes(one)) ?? [];
      return random.pick(whim.plain && usual.length > 0 ? usual : schema.enum);
    }
    const branches = schema.anyOf ?? schema.oneOf;
    if (branches !== undefined) {
      const { anyOf: _any, oneOf: _one, ...base } = schema;
      return value(both(base, resolve(random.pick(branches))), name, whim, depth);
    }
    if (schema.allOf !== undefined) {
      const { allOf, ...base } = schema;
      return value(Object.assign({}, base, ...allOf.map(resolve)) as Schema, name, whim, depth);
    }
    const type = typeof schema.type === 'string' ? schema.type : random.pick(schema.type ?? ['any']);
    switch (type) {
      case 'null':
        return null;
      case 'boolean':
        return random.chance(0.5);
      case 'integer':
        {
          const called = Number(there(name, whim));
          if (Number.isSafeInteger(called)) return called;
        }
        return number(schema, true, random);
      case 'number':
        return number(schema, random.chance(0.7), random);
      case 'string':
        return text(schema, name, whim);
      case 'array':
        return list(schema, name, whim, depth);
      case 'object':
        return object(schema, whim, depth);
      default:
        return schema.properties === undefined ? anything(whim, depth) : object(schema, whim, depth);
    }
  };

  const saidAgain: ValueSource['saidAgain'] = (reference, thing, whim) => {
    const schema = resolve(reference);
    const branches = schema.anyOf ?? schema.oneOf;
    if (branches !== undefined) {
      const all = branches.map(resolve);
      const alike = all.filter(({ properties }) =>
        Object.entries(properties ?? {}).every(([name, property]) => {
          const { const: only, enum: among = only === undefined ? undefined : [only] } = resolve(property);
          return among === undefined || thing[name] === undefined || among.includes(thing[name]);
        }),
      );
      return saidAgain(whim.random.pick(alike.length > 0 ? alike : all), thing, whim);
    }
    const made = value(schema, '', whim);
    if (typeof made !== 'object' || made === null || Array.isArray(made)) return made;
    const known = Object.entries(thing).filter(([name]) => schema.properties?.[name] !== undefined);
    return { ...made, ...Object.fromEntries(known.filter(() => whim.random.chance(0.9))) };
  };

  return {
    saidAgain,
    value: (schema, name, whim) => value(schema, name, whim),
    text: (schema, name, whim) => {
      const made = value(schema, name, whim);
      return typeof made === 'string' ? made : made === null ? '' : String(made);
    },
  };
};
