import { type TSchema } from 'typebox';

// Scripts send numbers and booleans where the interface has text (`"rollout": 50`), and weights as text. Unleash accepts both, so
// requests may hold them; stored values and replies have the declared type. A schema marks such a value with `lenient: true`.

/** The largest whole number that JSON carries without losing digits. */
const largest = Number.MAX_SAFE_INTEGER;

/** The range of the integers that JSON transports exactly. */
export const exactNumbers = { minimum: -largest, maximum: largest } as const;

/** The accepted spelling of integers as text. The pattern is for the OpenAPI document; the coercion below parses without it. */
const digits = '^(0?[0-9]{1,3}|1000)$';

type Json = Record<string, unknown>;

const isSchema = (value: unknown): value is Json => typeof value === 'object' && value !== null;

const lenientText = (schema: Json) => ({
  coerceTo: 'string',
  allOf: [schema],
  documentation: {
    ...schema,
    type: ['string', 'number', 'boolean'],
    ...exactNumbers,
  },
});

const lenientNumber = ({ description, ...schema }: Json) => ({
  coerceTo: 'number',
  allOf: [{ ...schema, description }],
  documentation: { anyOf: [schema, { type: 'string', documentedPattern: digits }], description },
});

const forms = new WeakMap<object, unknown>();
const changedForms = new WeakSet<object>();

const formOf = (schema: unknown): unknown => {
  if (!isSchema(schema) || changedForms.has(schema)) return schema;
  const known = forms.get(schema);
  if (known !== undefined) return known;
  const form = formAnew(schema);
  forms.set(schema, form);
  return form;
};

const formAnew = (schema: Json): unknown => {
  const { lenient, ...strict } = schema;
  if (lenient !== true) return withForms(schema);
  const form = strict['type'] === 'string' ? lenientText(strict) : lenientNumber(strict);
  changedForms.add(form);
  return form;
};

/** Returns the same object when no member has another form. Symbols that TypeBox adds to the JSON Schema are preserved. */
const withForms = (schema: Json): unknown => {
  const members = Object.entries(schema).map(([key, value]) => [key, value, formOf(value)] as const);
  const changed = members.filter(([, value, form]) => form !== value);
  if (changed.length === 0) return schema;
  if (Array.isArray(schema)) return members.map(([, , form]) => form);
  const descriptors = Object.getOwnPropertyDescriptors(schema);
  for (const [key, , value] of changed)
    descriptors[key] = { value, enumerable: true, configurable: true, writable: true };
  const form = Object.defineProperties({}, descriptors) as object;
  changedForms.add(form);
  return form;
};

/** The schema of requests: values of `schema`, and values that are coerced to it. */
export const lenientSchema = <S extends TSchema>(schema: S): S => formOf(schema) as S;

/** Whether a schema is the lenient form, for requests, of a stricter schema with the same title. */
export const isLenientSchema = (schema: object): boolean => changedForms.has(schema);

/** The value that a lenient schema coerces to; the value itself where nothing can be coerced. */
export const coerce = (type: 'string' | 'number', value: unknown): unknown => {
  if (type === 'number') return typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Math.abs(value) <= largest ? String(value) : value;
};
