import { type Static, Type } from 'typebox';
import { notEmpty, UrlFriendlyName } from '../text-schemas.ts';

/** The largest weight of a variant, and the sum of the weights of all variants. */
export const totalWeight = 1000;

/** The payload of a variant, which SDKs return to the application. */
export const Payload = Type.Object(
  {
    type: Type.Enum(['json', 'csv', 'string', 'number'], { type: 'string', description: 'the format of `value`' }),
    value: Type.String({ lenient: true, description: 'the content, always as text' }),
  },
  { description: 'The payload of a variant for the application.' },
);
export type Payload = Static<typeof Payload>;

const weightType = Type.Enum(['fix', 'variable'], {
  type: 'string',
  description: '`fix` keeps the weight as it is; `variable` adjusts it so that all weights sum to 1000',
});

const namedVariant = {
  name: UrlFriendlyName('the name, unique within the feature'),
  stickiness: Type.String({ ...notEmpty, description: 'the context field that keeps one user on one variant' }),
};

/** A variant of one strategy. */
export const StrategyVariant = Type.Object(
  {
    name: Type.String({ description: 'the name, unique within the feature' }),
    weight: Type.Integer({
      lenient: true,
      minimum: 0,
      maximum: totalWeight,
      description: 'the share of users, in thousandths',
    }),
    weightType,
    stickiness: Type.String({ description: 'the context field that keeps one user on one variant' }),
    payload: Type.Optional(Payload),
  },
  { title: 'strategyVariantSchema', description: 'A variant of one strategy.', additionalProperties: false },
);
export type StrategyVariant = Static<typeof StrategyVariant>;

/** A variant of one strategy in a request. */
export const StrategyVariantBody = Type.Object(
  { ...StrategyVariant.properties, ...namedVariant },
  { title: 'strategyVariantBodySchema', description: 'A variant of one strategy.', additionalProperties: false },
);

/** Context values that always get a variant, regardless of its weight. */
export const Override = Type.Object(
  {
    contextName: Type.String({ description: 'the name of the context field' }),
    values: Type.Array(Type.String({ lenient: true }), {
      description: 'the values of the field that always get the variant',
    }),
  },
  { title: 'overrideSchema', description: 'Context values that always get a variant, regardless of its weight.' },
);
export type Override = Static<typeof Override>;

/** A variant of a feature, or of a feature in one environment. */
export const FeatureVariant = Type.Object(
  {
    name: Type.String({ description: 'the name, unique within the feature' }),
    weight: Type.Number({
      lenient: true,
      minimum: 0,
      maximum: totalWeight,
      description: 'the share of users, in thousandths',
    }),
    weightType: Type.Optional(weightType),
    stickiness: Type.Optional(Type.String({ description: 'the context field that keeps one user on one variant' })),
    payload: Type.Optional(Payload),
    overrides: Type.Optional(Type.Array(Override, { description: 'these take precedence over the weights' })),
  },
  { title: 'variantSchema', description: 'A variant of a feature, or of a feature in one environment.' },
);
export type FeatureVariant = Static<typeof FeatureVariant>;

export const VariantList = Type.Array(FeatureVariant, {
  title: 'variantsSchema',
  maxItems: 1_000,
  description: 'The variants.',
});
export type VariantList = Static<typeof VariantList>;

const FeatureVariantBody = Type.Object(
  {
    ...FeatureVariant.properties,
    name: namedVariant.name,
    stickiness: Type.Optional(namedVariant.stickiness),
  },
  {
    title: 'variantBodySchema',
    description: 'The new properties of a variant of a feature, or of a feature in one environment.',
  },
);

/** The variants of a feature in a request. */
export const VariantListBody = Type.Array(FeatureVariantBody, {
  title: 'variantsBodySchema',
  maxItems: 1_000,
  description: 'The new variants.',
});

export const Variants = Type.Object(
  { version: Type.Integer({ description: 'the version of this format' }), variants: VariantList },
  { title: 'featureVariantsSchema', description: 'The variants of a feature.' },
);
export type Variants = Static<typeof Variants>;

export const VariantsBatchBody = Type.Object(
  {
    variants: Type.Optional(VariantListBody),
    environments: Type.Optional(
      Type.Array(Type.String(), { maxItems: 1_000, description: 'the environments that get the variants' }),
    ),
  },
  { title: 'pushVariantsSchema', description: 'Variants, and the environments that get them.' },
);
export type VariantsBatchBody = Static<typeof VariantsBatchBody>;
