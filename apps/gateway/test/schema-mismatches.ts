import type { Field, Shape, Table } from './interface-tables.ts';

type Schema = Readonly<Record<string, unknown>>;

const keywordOf = {
  least: 'minimum',
  most: 'maximum',
  shortest: 'minLength',
  longest: 'maxLength',
  pattern: 'pattern',
} as const;

const plain: Readonly<Record<string, { readonly type?: string; readonly format?: string }>> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  object: { type: 'object' },
  moment: { type: 'string', format: 'date-time' },
  address: { type: 'string', format: 'uri' },
  anything: {},
};

/** Resolves a schema that is a reference. Keywords beside the reference replace those of the schema that it refers to. */
const resolve = (document: Schema, schema: Schema): Schema => {
  const { $ref, ...siblings } = schema;
  if (typeof $ref !== 'string') return schema;
  let at: unknown = document;
  for (const part of $ref.slice(2).split('/')) at = (at as Record<string, unknown> | undefined)?.[part];
  return { ...resolve(document, (at ?? {}) as Schema), ...siblings };
};

/** A schema without its option null, and whether it has that option. */
const withoutNull = (
  document: Schema,
  documented: Schema,
  direction: Direction,
): { schema: Schema; nullable: boolean } => {
  const schema = resolve(document, documented);
  if (!Array.isArray(schema['anyOf'])) return { schema, nullable: false };
  const options = (schema['anyOf'] as Schema[]).filter((option) => option['type'] !== 'null');
  const nullable = options.length < schema['anyOf'].length;
  const isWeightAsText = (option: Schema) =>
    option['type'] === 'string' && option['pattern'] === '^(0?[0-9]{1,3}|1000)$';
  const accepted = direction === 'request' ? options.filter((option) => !isWeightAsText(option)) : options;
  const { anyOf: _anyOf, ...siblings } = schema;
  if (accepted.length !== 1) return { schema: { ...siblings, anyOf: accepted }, nullable };
  return { schema: { ...resolve(document, accepted[0] as Schema), ...siblings }, nullable };
};

const allowedValues = (schema: Schema): unknown =>
  schema['enum'] ?? ('const' in schema ? [schema['const']] : undefined);

/**
 * Whether a schema is of a request or of a reply. The documented schema of a request may accept more than is promised: a number in place of
 * text, and a weight as text.
 */
type Direction = 'request' | 'reply';

const accepts = (schema: Schema | undefined, type: string): boolean =>
  Array.isArray(schema?.['type']) && schema['type'].includes(type);

const saysDefault = (schema: Schema, value: unknown): boolean =>
  schema['default'] === value || String(schema['description'] ?? '').includes(`default: ${String(value)}`);

/**
 * The differences between a documented schema and the promised shape; empty when the schema keeps the promise.
 * @param at the path, for messages
 */
export const schemaMismatches = (
  document: Schema,
  documented: Schema | undefined,
  shape: Shape,
  at: string,
  direction: Direction = 'reply',
): string[] => {
  if (documented === undefined) return [`${at} is not there`];
  const { schema } = withoutNull(document, documented, direction);
  if ('listOf' in shape) {
    if (schema['type'] !== 'array') return [`${at} is no list`];
    return schemaMismatches(document, schema['items'] as Schema | undefined, shape.listOf, `${at}[]`, direction);
  }
  if ('members' in shape) {
    return schema['type'] === 'object'
      ? membersDiffer(document, schema, shape.members, at, direction)
      : [`${at} is no object`];
  }
  if ('oneOf' in shape) return optionsDiffer(document, schema, shape.oneOf, at, direction);
  if (shape.is === 'text by key') {
    const values = schema['additionalProperties'] as Schema | undefined;
    const isText = values?.['type'] === 'string' || (direction === 'request' && accepts(values, 'string'));
    return schema['type'] === 'object' && isText ? [] : [`${at} does not hold text by key`];
  }
  return Object.entries(plain[shape.is] ?? { type: 'unknown' }).flatMap(([keyword, value]) =>
    schema[keyword] === value || (keyword === 'type' && direction === 'request' && accepts(schema, value))
      ? []
      : [`${at} has ${keyword} ${JSON.stringify(schema[keyword])}, not ${value}`],
  );
};

/**
 * The differences between documented and promised options: each promised option must have its documented one, and none may be left over.
 */
const optionsDiffer = (
  document: Schema,
  schema: Schema,
  promised: readonly Shape[],
  at: string,
  direction: Direction,
): string[] => {
  const options = (schema['anyOf'] ?? []) as Schema[];
  const missing = promised.flatMap((shape, nth) => {
    const tries = options.map((option) => schemaMismatches(document, option, shape, `${at}|${nth}`, direction));
    if (tries.some((faults) => faults.length === 0)) return [];
    return [...tries].sort((one, other) => one.length - other.length)[0] ?? [`${at}|${nth} is not there`];
  });
  return options.length === promised.length
    ? missing
    : [...missing, `${at} has ${options.length} options, not ${promised.length}`];
};

const membersDiffer = (document: Schema, schema: Schema, table: Table, at: string, direction: Direction): string[] => {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>;
  const required = (schema['required'] ?? []) as readonly string[];
  const unpromised = required
    .filter((name) => !Object.hasOwn(table, name))
    .map((name) => `${at}.${name} is required, and not promised`);
  const different = Object.entries(table).flatMap(([name, field]) =>
    fieldDiffers(document, properties[name], required.includes(name), field, `${at}.${name}`, direction),
  );
  return [...unpromised, ...different];
};

/** The differences between a documented member or parameter and the promised field. */
export const fieldDiffers = (
  document: Schema,
  documented: Schema | undefined,
  isRequired: boolean,
  field: Field,
  at: string,
  direction: Direction = 'reply',
): string[] => {
  if (documented === undefined) return [`${at} is not there`];
  const { schema, nullable } = withoutNull(document, documented, direction);
  const faults = schemaMismatches(document, documented, field.shape, at, direction);
  const expectEqual = (what: string, is: unknown, promised: unknown) => {
    if (JSON.stringify(is) !== JSON.stringify(promised)) {
      faults.push(`${at}: ${what} is ${JSON.stringify(is)}, not ${JSON.stringify(promised)}`);
    }
  };
  expectEqual('required', isRequired, field.required);
  // Whether a field of the shape `anything` may be null is not promised.
  if (!('is' in field.shape && field.shape.is === 'anything'))
    expectEqual('nullable', nullable, field.nullable ?? false);
  expectEqual('deprecated', schema['deprecated'] ?? false, field.deprecated ?? false);
  if ('is' in field.shape && field.shape.is !== 'anything') expectEqual('values', allowedValues(schema), field.oneOf);
  for (const [rule, keyword] of Object.entries(keywordOf) as [keyof typeof keywordOf, string][]) {
    if (field[rule] !== undefined) expectEqual(keyword, schema[keyword], field[rule]);
  }
  if (field.normally !== undefined && !saysDefault(schema, field.normally)) {
    faults.push(`${at} does not say that it is normally ${field.normally}`);
  }
  return faults;
};
