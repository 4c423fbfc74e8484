import { type TSchema, type TSchemaOptions, type TUnion, Type, type TNull, type TUnsafe } from 'typebox';

/** A value or null. */
export const Nullable = <T extends TSchema>(schema: T, options: TSchemaOptions = {}): TUnion<[T, TNull]> =>
  Type.Union([schema, Type.Null()], options);

/** A timestamp in RFC 3339. */
export const Timestamp = (description: string) => Type.String({ format: 'date-time', description });

/**
 * An object whose members are texts; requests may hold numbers and booleans. A schema with a pattern of keys would not validate keys with
 * a line break.
 */
export const TextByKey = (options: TSchemaOptions = {}): TUnsafe<Record<string, string>> =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string', lenient: true },
    ...options,
  });

/** An object with any members. */
export const AnyObject = (options: TSchemaOptions = {}): TUnsafe<Record<string, unknown>> =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, ...options });

/** A number of objects or occurrences. */
export const Count = (description: string) => Type.Integer({ minimum: 0, description });

/** A percentage without decimals. */
export const Percent = (description: string) => Type.Integer({ minimum: 0, maximum: 100, description });

/** An integer with one allowed value. */
export const Constant = <N extends number>(value: N, description: string): TUnsafe<N> =>
  Type.Unsafe<N>({ type: 'integer', enum: [value], minimum: value, description });

/** The maximum of ids that PostgreSQL assigns, as `integer`. */
export const maxId = 2_147_483_647;
