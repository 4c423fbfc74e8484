import {
  type Static,
  type TNull,
  type TOptional,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  type TUnion,
  type TUnsafe,
  Type,
} from 'typebox';

/** A value or null. */
/* @__NO_SIDE_EFFECTS__ */
export function Nullable<T extends TSchema>(schema: T, options: TSchemaOptions = {}): TUnion<[T, TNull]> {
  return Type.Union([schema, Type.Null()], options);
}

/**
 * The schemas of members, each of them optional. `Partial`, `Pick`, `Omit` and `Record` of TypeBox load its engine for types, which is a twentieth
 * of what a browser loads.
 */
/* @__NO_SIDE_EFFECTS__ */
export function optionalMembers<P extends TProperties>(members: P): { -readonly [K in keyof P]: TOptional<P[K]> } {
  return Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, Type.Optional(schema)])) as {
    -readonly [K in keyof P]: TOptional<P[K]>;
  };
}

/** A timestamp in RFC 3339. */
/* @__NO_SIDE_EFFECTS__ */
export function Timestamp(description: string) {
  return Type.String({ format: 'date-time', description });
}

/**
 * An object whose members are texts; requests may hold numbers and booleans. A schema with a pattern of keys would not validate keys with
 * a line break.
 */
/* @__NO_SIDE_EFFECTS__ */
export function TextByKey(options: TSchemaOptions = {}): TUnsafe<Record<string, string>> {
  return Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string', lenient: true },
    ...options,
  });
}

/** An object with any members. */
/* @__NO_SIDE_EFFECTS__ */
export function AnyObject(options: TSchemaOptions = {}): TUnsafe<Record<string, unknown>> {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, ...options });
}

/** A number of objects or occurrences. */
/* @__NO_SIDE_EFFECTS__ */
export function Count(description: string) {
  return Type.Integer({ minimum: 0, description });
}

/** A percentage without decimals. */
/* @__NO_SIDE_EFFECTS__ */
export function Percent(description: string) {
  return Type.Integer({ minimum: 0, maximum: 100, description });
}

/** An integer with one allowed value. */
/* @__NO_SIDE_EFFECTS__ */
export function Constant<N extends number>(value: N, description: string): TUnsafe<N> {
  return Type.Unsafe<N>({ type: 'integer', enum: [value], minimum: value, description });
}

/** The maximum of ids that PostgreSQL assigns, as `integer`. */
export const maxId = 2_147_483_647;

// Patterns for the OpenAPI document, in keywords such as `documentedPattern`, which validation ignores. The services check the same rules
// in code, because matching input with a pattern can take exponential time.

/**
 * A name without characters that `encodeURIComponent` escapes, and neither `.` nor `..`. That `__proto__` is reserved is left out: many
 * readers of the document do not know lookaheads.
 */
export const urlFriendlyPattern = "^([.]{0,2}[A-Za-z0-9_!~*'()-]|[.]{3})[A-Za-z0-9_.!~*'()-]*$";

const emailLabel = String.raw`([A-Za-z0-9\u00c0-\uffef]([A-Za-z0-9\u00c0-\uffef-]{0,61}[A-Za-z0-9\u00c0-\uffef])?)`;
/** An empty text, or an e-mail address as `<input type="email">` of HTML accepts it, with letters beyond ASCII. */
export const emailPattern =
  String.raw`^\s*([A-Za-z0-9.!#$%&'*+/=?^_` +
  '`' +
  String.raw`{|}~\u00c0-\uffef-]+@${emailLabel}([.]${emailLabel})*)?\s*$`;

/** A valid date of the calendar in the form YYYY-MM-DD. */
const day =
  '([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))' +
  '|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)';
/** A date, with or without a time and its offset. */
export const datePattern = `${day}(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9})?)?(Z|[-+]([01][0-9]|2[0-3]):[0-5][0-9])?)?`;
/** A filter whose value is a date. */
export const documentedDayFilter = { documentedPattern: `^[A-Z_]+:${day}$` };

const value = String.raw`[^,\r\n\u2028\u2029]*[^,\s][^,\r\n\u2028\u2029]*`;
/** A filter with comma-separated values, none of them blank. */
export const documentedListFilter = { documentedPattern: `^[A-Z_]+:${value}(,${value})*$` };

const tag = String.raw`[ \t]*[^:,\s][^:,\r\n\u2028\u2029]*:[^,\r\n\u2028\u2029]+`;
const restOfTag = String.raw`[^:,\r\n\u2028\u2029]*[^:,\s][^:,\r\n\u2028\u2029]*`;
/** A filter with comma-separated tags; a comma without a `<type>:` after it is part of the value before it. */
export const documentedTagFilter = { documentedPattern: `^[A-Z_]+:${tag}(,(${tag}|${restOfTag}))*$` };

/** A filter that lists states. */
export const documentedStateFilter = { documentedPattern: '^[A-Z_]+: *(active|stale)( *, *(active|stale))* *$' };

const stage = '(initial|pre-live|live|completed|archived)';
/** A filter that lists stages of the lifecycle. */
export const documentedStageFilter = { documentedPattern: `^[A-Z_]+: *${stage}( *, *${stage})* *$` };

/** A filter of events: only `IS` and `IS_ANY_OF` are supported. */
export const documentedEventFilters = {
  ids: { documentedPattern: '^(IS|IS_ANY_OF): *-?[0-9]{1,15}( *, *-?[0-9]{1,15})* *$' },
  values: { documentedPattern: `^(IS|IS_ANY_OF):${value}(,${value})*$` },
  day: { documentedPattern: `^IS:${day}$` },
};

/** An integer in the text of a query. */
export const offsetPattern = '^[0-9]{1,15}$';
/** An integer from 1 to 1000 in the text of a query. */
export const limitPattern = '^0{0,9}([1-9][0-9]{0,2}|1000)$';

/** A tag as `<type>:<value>`. */
export const writtenTagPattern = String.raw`^[^:]+:[\s\S]+$`;

/** The schema of a name that needs no escape in a URL. */
/* @__NO_SIDE_EFFECTS__ */
export function UrlFriendlyName(description: string) {
  return Type.String({
    description,
    form: 'url-friendly',
    documentedMinLength: 1,
    documentedMaxLength: 100,
    documentedPattern: urlFriendlyPattern,
  });
}

/** Options of a text that is not empty. */
export const notEmpty = { form: 'not-empty', documentedMinLength: 1 } as const;

/** Options of a JSON pointer. */
export const jsonPointer = { form: 'json-pointer', documentedPattern: '^(/([^~]|~[01])*)?$' } as const;

/** The schema of a text of 1 to `max` characters; the white space around it is not counted. */
/* @__NO_SIDE_EFFECTS__ */
export function TrimmedText(max: number, description: string) {
  return Type.String({
    maxLength: 2_000,
    ...notBlank,
    maxTrimmedLength: max,
    documentedPattern: String.raw`^\s*\S([\s\S]{0,${max - 2}}\S)?\s*$`,
    description: `${description}; 1 to ${max} characters without the white space around it`,
  });
}

/** Options of a text that must not be blank. */
export const notBlank = { form: 'not-blank', documentedPattern: String.raw`\S` } as const;

/** Names of features or variants, as a whole reply. */
export const NameList = Type.Array(Type.String(), { description: 'names, in order' });

/**
 * The parameters of a page of a list. Clients of Unleash expect the complete list, so without `limit` the reply has all items after
 * `offset`.
 * @param items the plural noun of the items, for the descriptions
 */
/* @__NO_SIDE_EFFECTS__ */
export function optionalPageParameters(items: string) {
  return {
    offset: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000, description: `the number of ${items} to skip; default: 0` }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: `the number of ${items} to return; default: all` }),
    ),
  };
}

/* @__NO_SIDE_EFFECTS__ */
export function PageQuery(items: string) {
  return Type.Object(optionalPageParameters(items));
}
export type PageParameters = Static<ReturnType<typeof PageQuery>>;

export const ValidateSegmentNameBody = Type.Object(
  {
    name: Type.String({
      description: 'the name to check',
      ...notBlank,
    }),
  },
  { title: 'segmentNameSchema', description: 'A name of a segment to validate.' },
);

/** The body that is a name of a context field or an environment to validate. */
export const ValidateNameBody = Type.Object(
  { name: UrlFriendlyName('the name to check') },
  { title: 'nameSchema', description: 'A name to validate.' },
);

/** The operations of a JSON Patch that are supported. */
export const patchOperators = ['add', 'remove', 'replace', 'copy', 'move'] as const;

function isOneOf(...operators: readonly (typeof patchOperators)[number][]) {
  return {
    properties: { op: { enum: operators } },
    required: ['op'],
  };
}

/** The empty path is that of the whole document, which cannot be copied to, moved to or removed. */
export const PatchOperation = Type.Object(
  {
    path: Type.String({ ...jsonPointer, description: 'the path of the property to operate on, as a JSON pointer' }),
    op: Type.Enum([...patchOperators], { type: 'string', description: 'the action' }),
    from: Type.Optional(
      Type.String({ ...jsonPointer, description: 'where the value comes from, for `copy` and `move`' }),
    ),
    value: Type.Optional(Type.Unknown({ description: 'the value, for `add` and `replace`' })),
  },
  {
    title: 'patchSchema',
    description: 'One step of a patch.',
    allOf: [
      { if: isOneOf('copy', 'move'), then: { required: ['from'] } },
      { if: isOneOf('copy', 'move', 'remove'), then: { properties: { path: { minLength: 1 } } } },
      {
        if: { properties: { path: { const: '' } }, required: ['path'] },
        then: { properties: { value: { type: ['object', 'array'] } } },
      },
    ],
  },
);
export type PatchOperation = Static<typeof PatchOperation>;

/** Operations of a JSON Patch, applied in their order. */
export const JsonPatch = Type.Array(PatchOperation, {
  title: 'patchesSchema',
  maxItems: 100,
  description: 'The steps, applied one after the other: all of them or none.',
});
export type JsonPatch = Static<typeof JsonPatch>;
