/**
 * The shape of a JSON value, as data:
 * - text names types with `|` between them: `string`, `number`, `integer`, `boolean`, `null`, `any`, or `#name` for a named shape;
 * - a list with one shape is a list of such values;
 * - an object has the shapes of its members; `name?` is a member that may be left out, and `*` stands for every other member;
 * - `{ "anyOf": [...] }` is any of the shapes.
 */
export type Shape = string | readonly unknown[] | Readonly<Record<string, unknown>>;

/** The properties and types of a response. */
export interface ExpectedResponse {
  readonly status: number;
  /** undefined for a response whose body the client does not read */
  readonly body?: Shape;
  /** optional members of the shape that the response must have: `features[].environments[].name` */
  readonly has?: readonly string[];
}

export interface ExpectedResponses {
  readonly responses: Readonly<Record<string, ExpectedResponse>>;
  readonly shapes: Readonly<Record<string, Shape>>;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (Number.isInteger(value)) return 'integer';
  return typeof value;
};

/** The differences between a value and a shape that a strict generated client would report, one line each. */
export const shapeMismatches = (
  value: unknown,
  shape: Shape,
  shapes: ExpectedResponses['shapes'],
  at = '',
): readonly string[] => {
  if (typeof shape === 'string') {
    const found = shape.split('|').map((type) => {
      if (type === 'any' || type === typeOf(value) || (type === 'number' && typeof value === 'number')) return [];
      if (type.startsWith('#')) return shapeMismatches(value, shapes[type.slice(1)] as Shape, shapes, at);
      return [`${at || '(the response)'} is ${typeOf(value)}, not ${shape}`];
    });
    return found.some((mismatches) => mismatches.length === 0) ? [] : (found[0] ?? []);
  }
  if (!isRecord(shape)) {
    if (!Array.isArray(value)) return [`${at || '(the response)'} is ${typeOf(value)}, not a list`];
    const mismatches = value.flatMap((one) => shapeMismatches(one, shape[0] as Shape, shapes, `${at}[]`));
    return [...new Set(mismatches)];
  }
  if (Array.isArray(shape['anyOf'])) {
    const found = (shape['anyOf'] as readonly Shape[]).map((one) => shapeMismatches(value, one, shapes, at));
    return found.some((mismatches) => mismatches.length === 0) ? [] : (found[0] ?? []);
  }
  if (!isRecord(value)) return [`${at || '(the response)'} is ${typeOf(value)}, not an object`];
  const named = new Set(Object.keys(shape).map((member) => member.replace(/\?$/, '')));
  return Object.entries(shape).flatMap(([member, one]) => {
    const inner = one as Shape;
    if (member === '*')
      return Object.keys(value)
        .filter((name) => !named.has(name))
        .flatMap((name) => shapeMismatches(value[name], inner, shapes, `${at}.*`));
    const name = member.replace(/\?$/, '');
    const where = at === '' ? name : `${at}.${name}`;
    if (Object.hasOwn(value, name)) return shapeMismatches(value[name], inner, shapes, where);
    return member.endsWith('?') ? [] : [`${where} is missing`];
  });
};

const valuesAt = (values: readonly unknown[], step: string): readonly unknown[] => {
  const isList = step.endsWith('[]');
  const name = isList ? step.slice(0, -2) : step;
  return values.flatMap((value) => {
    const found = name === '' ? value : isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    return isList ? (Array.isArray(found) ? found : []) : found === undefined ? [] : [found];
  });
};

/** The members that no value has, although there is an object that could have them. */
export const missingMembers = (value: unknown, members: readonly string[]): readonly string[] =>
  members.filter((member) => {
    const steps = member.split('.');
    const last = steps.pop() as string;
    const holders = steps.reduce(valuesAt, [value]).filter(isRecord);
    return holders.length > 0 && !holders.some((holder) => Object.hasOwn(holder, last.replace(/\[\]$/, '')));
  });
