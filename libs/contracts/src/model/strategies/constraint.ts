import { type Static, Type } from 'typebox';

/**
 * The constraint operators. `SEMVER_GTE` and `SEMVER_LTE` exist in Unleash since 8.0.3; the features service refuses `REGEX` unless
 * `FEATURES_ALLOW_REGEX` is on.
 */
export const constraintOperators = [
  'NOT_IN',
  'IN',
  'STR_ENDS_WITH',
  'STR_STARTS_WITH',
  'STR_CONTAINS',
  'NUM_EQ',
  'NUM_GT',
  'NUM_GTE',
  'NUM_LT',
  'NUM_LTE',
  'DATE_AFTER',
  'DATE_BEFORE',
  'SEMVER_EQ',
  'SEMVER_GT',
  'SEMVER_LT',
  'SEMVER_GTE',
  'SEMVER_LTE',
  'REGEX',
] as const;
export type ConstraintOperator = (typeof constraintOperators)[number];

/** One condition on a context field. */
export const Constraint = Type.Object(
  {
    contextName: Type.String({ description: 'the name of the context field that the constraint applies to' }),
    operator: Type.Enum([...constraintOperators], {
      type: 'string',
      description: 'how the value of the context field is compared',
    }),
    caseInsensitive: Type.Optional(
      Type.Boolean({ default: false, description: 'whether upper and lower case are the same; default: false' }),
    ),
    inverted: Type.Optional(
      Type.Boolean({ default: false, description: 'whether the result is negated; default: false' }),
    ),
    values: Type.Optional(
      Type.Array(Type.String({ lenient: true }), {
        description: 'for operators that take several values; used instead of `value`',
      }),
    ),
    value: Type.Optional(
      Type.String({
        lenient: true,
        description: 'for operators that take a single value; used instead of `values`',
      }),
    ),
  },
  {
    title: 'constraintSchema',
    description: 'A condition on a context field that must hold for a strategy or a segment to match.',
    additionalProperties: false,
  },
);
export type Constraint = Static<typeof Constraint>;
