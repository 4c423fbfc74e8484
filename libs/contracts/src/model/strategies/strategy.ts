import { type Static, Type } from 'typebox';
import { Constraint } from './constraint.ts';
import { maxId, Nullable, TextByKey } from '../schema.ts';
import { ConstraintBody } from './constraint-body.ts';
import { StrategyVariant, StrategyVariantBody } from '../features/variant.ts';

const name = Type.String({ description: 'the name, or type, of the strategy' });
const title = Nullable(Type.String(), { description: 'a descriptive title' });
const disabled = Nullable(Type.Boolean(), {
  description: 'disabled strategies are not evaluated and are not sent to client SDKs; default: false',
});
const sortOrder = Type.Number({
  minimum: -1_000_000_000,
  maximum: 1_000_000_000,
  description: 'the position in the list of strategies',
});
const segments = Type.Array(Type.Number({ minimum: 0, maximum: maxId, multipleOf: 1 }), {
  description: 'the ids of the segments that must match as well',
});
/** The constraints of a strategy. */
export const StrategyConstraints = Type.Array(Constraint, {
  description: 'all of these must hold for the strategy to match',
});
const variants = Type.Array(StrategyVariant, { description: 'the variants among which matching users are divided' });
/** The settings of a strategy. */
export const StrategyParameters = TextByKey({
  title: 'parametersSchema',
  description: 'the settings of the strategy, by name; every value is text',
});

/** One activation rule of a feature in an environment. */
export const FeatureStrategy = Type.Object(
  {
    id: Type.Optional(Type.String({ description: 'the uuid of the strategy' })),
    name,
    title: Type.Optional(title),
    disabled: Type.Optional(disabled),
    featureName: Type.Optional(Type.String({ description: 'the feature that the strategy belongs to' })),
    sortOrder: Type.Optional(sortOrder),
    segments: Type.Optional(segments),
    constraints: Type.Optional(StrategyConstraints),
    variants: Type.Optional(variants),
    parameters: Type.Optional(StrategyParameters),
  },
  {
    title: 'featureStrategySchema',
    description: 'One activation rule of a feature in an environment.',
    additionalProperties: false,
  },
);
export type FeatureStrategy = Static<typeof FeatureStrategy>;

/** The properties of a strategy that users set: of a new one, or of the default strategy of an environment. Other members are ignored. */
export const StrategyProperties = Type.Object(
  {
    name,
    title: Type.Optional(title),
    disabled: Type.Optional(disabled),
    sortOrder: Type.Optional(sortOrder),
    segments: Type.Optional(segments),
    constraints: Type.Optional(StrategyConstraints),
    variants: Type.Optional(variants),
    parameters: Type.Optional(StrategyParameters),
  },
  { title: 'createFeatureStrategySchema', description: 'The properties of a new strategy.' },
);
export type StrategyProperties = Static<typeof StrategyProperties>;

/** The properties of a strategy in a request. */
export const CreateStrategyBody = Type.Object(
  {
    ...StrategyProperties.properties,
    constraints: Type.Optional(
      Type.Array(ConstraintBody, { description: 'all of these must hold for the strategy to match' }),
    ),
    variants: Type.Optional(
      Type.Array(StrategyVariantBody, { description: 'the variants among which matching users are divided' }),
    ),
  },
  { title: 'createFeatureStrategyBodySchema', description: 'The properties of a new strategy.' },
);

/** The position of one strategy in the list of strategies. */
export const StrategyPosition = Type.Object(
  { id: Type.String({ description: 'the id of the strategy' }), sortOrder },
  { description: 'The sort order of one strategy.' },
);
export type StrategyPosition = Static<typeof StrategyPosition>;

export const FeatureStrategies = Type.Array(FeatureStrategy, { description: 'the strategies, in their order' });
export type FeatureStrategies = Static<typeof FeatureStrategies>;

/** The new properties of a strategy. */
export const UpdateStrategyBody = Type.Object(
  { ...CreateStrategyBody.properties, name: Type.Optional(name) },
  { title: 'updateFeatureStrategySchema', description: 'The new properties of a strategy.' },
);
export type UpdateStrategyBody = Static<typeof UpdateStrategyBody>;

export const StrategyPositions = Type.Array(StrategyPosition, {
  title: 'setStrategySortOrderSchema',
  maxItems: 1_000,
  description: 'The places of strategies.',
});
export type StrategyPositions = Static<typeof StrategyPositions>;
