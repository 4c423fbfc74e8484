import { emailPattern, isJsonObject, urlFriendlyPattern } from '@bunting/contracts';
import type { TSchema } from 'typebox';
import { formatCount } from '../../text/format-number.ts';

/** The keywords of a JSON schema that the forms of the console read. */
interface Schema {
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly documentedMaxLength?: number;
  readonly documentedPattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

export type FormValues = Readonly<Record<string, unknown>>;

/** What the schema of a body says of one member. */
interface Member {
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
}

function memberOf(body: Schema, name: string): Member {
  const declared = body.properties?.[name] ?? {};
  const variants = declared.anyOf ?? [];
  return {
    schema: variants.find(({ type }) => type !== 'null') ?? declared,
    isRequired: body.required?.includes(name) ?? false,
    isNullable: variants.some(({ type }) => type === 'null'),
  };
}

/** The member of a body that a path such as `featureNaming.pattern` names. */
function memberAt(body: Schema, path: string): Member {
  const [name = '', ...rest] = path.split('.');
  const member = memberOf(body, name);
  return rest.length === 0 ? member : memberAt(member.schema, rest.join('.'));
}

function isNumeric({ type }: Schema): boolean {
  return type === 'integer' || type === 'number';
}

/** The kind of input for a member of a body, as its schema requires. */
export function inputKindOf(body: TSchema, path: string) {
  const { schema, isRequired, isNullable } = memberAt(body, path);
  return {
    isRequired: isRequired && !isNullable,
    isSwitch: schema.type === 'boolean',
    isNumber: isNumeric(schema),
    choices: schema.enum,
  };
}

function lengthError({ minLength = 0, maxLength, documentedMaxLength }: Schema, value: string): string | undefined {
  const { length } = [...value];
  if (length < minLength) return `Enter at least ${formatCount(minLength, 'character')}.`;
  const max = maxLength ?? documentedMaxLength ?? Number.POSITIVE_INFINITY;
  return length > max ? `At most ${formatCount(max, 'character')}: these are ${length}.` : undefined;
}

function numberError({ minimum = -Infinity, maximum = Infinity }: Schema, value: string): string | undefined {
  if (!/^-?\d+$/.test(value)) return 'Enter a whole number.';
  if (Number(value) < minimum) return `Enter ${minimum} or more.`;
  return Number(value) > maximum ? `Enter ${maximum} or less.` : undefined;
}

/** What is said of a text that does not match a pattern. The server validates all other patterns. */
const patternMessages = [
  [urlFriendlyPattern, 'Use letters, digits and - _ . ~ only: the name is a part of addresses.'],
  [emailPattern, 'Enter an email address, such as ada@example.org.'],
] as const;

/** The validation error of an entered text, as a sentence; undefined where the schema accepts it. */
export function validationErrorOf(body: TSchema, path: string, entered: unknown): string | undefined {
  if (typeof entered !== 'string') return undefined;
  const { schema, isRequired, isNullable } = memberAt(body, path);
  const value = entered.trim();
  if (value === '') return isRequired && !isNullable ? 'Enter a value.' : undefined;
  if (isNumeric(schema)) return numberError(schema, value);
  const { documentedPattern: pattern } = schema;
  const message = patternMessages.find(([known]) => pattern?.includes(known))?.[1];
  if (message !== undefined && !new RegExp(pattern ?? '').test(value)) return message;
  return lengthError(schema, value);
}

function bodyValueOf({ schema, isRequired, isNullable }: Member, value: unknown): unknown {
  if (isJsonObject(value) && schema.properties !== undefined) return requestBodyOf(schema as TSchema, value);
  if (typeof value !== 'string') return value;
  const entered = value.trim();
  if (entered !== '') return isNumeric(schema) ? Number(entered) : entered;
  if (isNullable) return null;
  return isRequired ? '' : undefined;
}

/** A request body from the values of a form. An empty text becomes null, or is left out where it is optional. Digits become numbers. */
export function requestBodyOf(body: TSchema, values: FormValues): FormValues {
  return Object.fromEntries(
    Object.entries(values)
      .map(([name, value]) => [name, bodyValueOf(memberOf(body, name), value)] as const)
      .filter(([, value]) => value !== undefined),
  );
}

/** The values of a form from a stored body. A text or number that is null or absent becomes an empty text. */
export function formValuesOf(body: TSchema, stored: FormValues): FormValues {
  return Object.fromEntries(
    Object.keys((body as Schema).properties ?? {}).map((name) => {
      const { schema } = memberOf(body, name);
      const value = stored[name];
      if (schema.properties !== undefined)
        return [name, formValuesOf(schema as TSchema, isJsonObject(value) ? value : {})];
      if (schema.type === 'boolean') return [name, value ?? false];
      if (schema.type === 'string' || isNumeric(schema)) return [name, value == null ? '' : String(value)];
      return [name, value];
    }),
  );
}
