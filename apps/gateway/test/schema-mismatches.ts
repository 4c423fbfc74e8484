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

/** Follows references, and puts what stands beside one on top of what it leads to. */
const resolved = (document: Schema, schema: Schema): Schema => {
  const { $ref, ...beside } = schema;
  if (typeof $ref !== 'string') return schema;
  let at: unknown = document;
  for (const part of $ref.slice(2).split('/')) at = (at as Record<string, unknown> | undefined)?.[part];
  return { ...resolved(document, (at ?? {}) as Schema), ...beside };
};

/** The schema without the null that it also allows, and whether it does. */
const apart = (document: Schema, given: Schema, direction: Direction): { schema: Schema; nullable: boolean } => {
  const schema = resolved(document, given);
  if (!Array.isArray(schema['anyOf'])) return { schema, nullable: false };
  const options = (schema['anyOf'] as Schema[]).filter((option) => option['type'] !== 'null');
  const nullable = options.length < schema['anyOf'].length;
  const isWeightAsText = (option: Schema) =>
    option['type'] === 'string' && option['pattern'] === '^(0?[0-9]{1,3}|1000)$';
  const others = direction === 'request' ? options.filter((option) => !isWeightAsText(option)) : options;
  const { anyOf: _anyOf, ...beside } = schema;
  if (others.length !== 1) return { schema: { ...beside, anyOf: others }, nullable };
  return { schema: { ...resolved(document, others[0] as Schema), ...beside }, nullable };
};

const allowed = (schema: Schema): unknown => schema['enum'] ?? ('const' in schema ? [schema['const']] : undefined);

/** What is promised of a request, which may hold more besides: a number where there is text, and a weight as text. */
type Direction = 'request' | 'reply';

const accepts = (schema: Schema | undefined, type: string): boolean =>
  Array.isArray(schema?.['type']) && schema['type'].includes(type);

const saysDefault = (schema: Schema, value: unknown): boolean =>
  schema['default'] === value || String(schema['description'] ?? '').includes(`default: ${String(value)}`);

/** How a documented schema differs from what is promised; empty when it holds all of it. */
export const schemaMismatches = (
  document: Schema,
  given: Schema | undefined,
  shape: Shape,
  at: string,
  direction: Direction = 'reply',
): string[] => {
  if (given === undefined) return [`${at} is not there`];
  const { schema } = apart(document, given, direction);
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

/** One option that is documented must be just what is promised of it, for each that is promised; and none may be left over. */
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
  const unheardOf = required
    .filter((name) => !Object.hasOwn(table, name))
    .map((name) => `${at}.${name} is required, and not promised`);
  const different = Object.entries(table).flatMap(([name, field]) =>
    fieldDiffers(document, properties[name], required.includes(name), field, `${at}.${name}`, direction),
  );
  return [...unheardOf, ...different];
};

/** How one documented member, or parameter, differs from the field that is promised. */
export const fieldDiffers = (
  document: Schema,
  given: Schema | undefined,
  isRequired: boolean,
  field: Field,
  at: string,
  direction: Direction = 'reply',
): string[] => {
  if (given === undefined) return [`${at} is not there`];
  const { schema, nullable } = apart(document, given, direction);
  const faults = schemaMismatches(document, given, field.shape, at, direction);
  const expectEqual = (what: string, is: unknown, promised: unknown) => {
    if (JSON.stringify(is) !== JSON.stringify(promised)) {
      faults.push(`${at}: ${what} is ${JSON.stringify(is)}, not ${JSON.stringify(promised)}`);
    }
  };
  expectEqual('required', isRequired, field.required);
  // What need not be there may be null instead, where nothing of it is promised.
  if (!('is' in field.shape && field.shape.is === 'anything'))
    expectEqual('nullable', nullable, field.nullable ?? false);
  expectEqual('deprecated', schema['deprecated'] ?? false, field.deprecated ?? false);
  if ('is' in field.shape && field.shape.is !== 'anything') expectEqual('values', allowed(schema), field.oneOf);
  for (const [rule, keyword] of Object.entries(keywordOf) as [keyof typeof keywordOf, string][]) {
    if (field[rule] !== undefined) expectEqual(keyword, schema[keyword], field[rule]);
  }
  if (field.normally !== undefined && !saysDefault(schema, field.normally)) {
    faults.push(`${at} does not say that it is normally ${field.normally}`);
  }
  return faults;
};
