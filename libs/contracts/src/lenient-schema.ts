import { type TSchema } from 'typebox';

// Scripts send numbers and booleans where the API has text (`"rollout": 50`), and weights as text. Unleash accepts both, so requests may
// contain them; stored values and replies have the declared type. A schema marks such a value with `lenient: true`. The schema of
// requests is derived from it: its lenient schema also accepts values of the other types, which validation converts with `coerce`.

/** The maximum integer that JSON transports exactly. */
const maxExactInteger = Number.MAX_SAFE_INTEGER;

/** The range of the integers that JSON transports exactly. */
export const exactIntegerRange = { minimum: -maxExactInteger, maximum: maxExactInteger } as const;

/** A weight as text, for the OpenAPI document. `coerce` also converts larger numbers, which the range of the schema then refuses. */
const weightPattern = '^(0?[0-9]{1,3}|1000)$';

type Json = Record<string, unknown>;

function isSchema(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

function lenientText(schema: Json) {
  return {
    coerceTo: 'string',
    allOf: [schema],
    documentation: {
      ...schema,
      type: ['string', 'number', 'boolean'],
      ...exactIntegerRange,
    },
  };
}

function lenientNumber({ description, ...schema }: Json) {
  return {
    coerceTo: 'number',
    allOf: [{ ...schema, description }],
    documentation: { anyOf: [schema, { type: 'string', documentedPattern: weightPattern }], description },
  };
}

/** The results of `toLenient` by the schema. A schema without lenient values is its own result. */
const lenientSchemas = new WeakMap<object, unknown>();
/** The results of `toLenient` that differ from their schema. */
const convertedSchemas = new WeakSet<object>();

function toLenient(schema: unknown): unknown {
  if (!isSchema(schema) || convertedSchemas.has(schema)) return schema;
  const cached = lenientSchemas.get(schema);
  if (cached !== undefined) return cached;
  const converted = convert(schema);
  lenientSchemas.set(schema, converted);
  return converted;
}

function convert(schema: Json): unknown {
  const { lenient, ...strict } = schema;
  if (lenient !== true) return convertMembers(schema);
  const converted = strict['type'] === 'string' ? lenientText(strict) : lenientNumber(strict);
  convertedSchemas.add(converted);
  return converted;
}

/** Returns the schema itself when no member is converted. Symbols that TypeBox adds to the JSON Schema are preserved. */
function convertMembers(schema: Json): unknown {
  const members = Object.entries(schema).map(([key, value]) => [key, value, toLenient(value)] as const);
  const changed = members.filter(([, value, converted]) => converted !== value);
  if (changed.length === 0) return schema;
  if (Array.isArray(schema)) return members.map(([, , converted]) => converted);
  const descriptors = Object.getOwnPropertyDescriptors(schema);
  for (const [key, , value] of changed)
    descriptors[key] = { value, enumerable: true, configurable: true, writable: true };
  const converted = Object.defineProperties({}, descriptors) as object;
  convertedSchemas.add(converted);
  return converted;
}

/** The schema of requests: it accepts values of `schema`, and values that are coerced to such values. */
export function lenientSchema<S extends TSchema>(schema: S): S {
  return toLenient(schema) as S;
}

/** Whether a schema was derived by `lenientSchema` from a stricter one, which has the same title. */
export function isLenientSchema(schema: object): boolean {
  return convertedSchemas.has(schema);
}

/** Converts a value to the type that its schema declares; returns the value itself where it cannot be converted. */
export function coerce(type: 'string' | 'number', value: unknown): unknown {
  if (type === 'number') return typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Math.abs(value) <= maxExactInteger ? String(value) : value;
}
