import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { JsonPatch, notEmpty, UrlFriendlyName } from '../schemas.ts';

const defineOperation = operationsOf('Features');

/** The largest weight of a variant, and the sum of the weights of all variants. */
export const totalWeight = 1000;

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

export const StrategyVariantBody = Type.Object(
  { ...StrategyVariant.properties, ...namedVariant },
  { title: 'strategyVariantBodySchema', description: 'A variant of one strategy.', additionalProperties: false },
);

export const Override = Type.Object(
  {
    contextName: Type.String({ description: 'the name of the context field' }),
    values: Type.Array(Type.String({ lenient: true }), {
      description: 'the values of the field that always get the variant',
    }),
  },
  { title: 'overrideSchema', description: 'Context values that always get a variant, regardless of its weight.' },
);

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

export const GetEnvironmentVariants = defineOperation({
  subject: 'call.features.get-environment-variants',
  operationId: 'getEnvironmentFeatureVariants',
  summary: 'Get the variants of a feature in an environment',
  description: 'Returns the variants, by name.',
  http: {
    method: 'GET',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/variants',
  },
  permission: 'authenticated',
  reply: Variants,
});

export const GetFeatureVariants = defineOperation({
  subject: 'call.features.get-feature-variants',
  summary: 'Get the variants of a feature',
  description: 'Returns the variants of the first environment that has any.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features/:featureName/variants' },
  permission: 'authenticated',
  reply: Variants,
  deprecated: true,
});

export const PatchEnvironmentVariants = defineOperation({
  subject: 'call.features.patch-environment-variants',
  operationId: 'patchEnvironmentsFeatureVariants',
  summary: 'Patch the variants of a feature in an environment',
  description: 'Applies JSON patch operations to the list of variants.',
  http: {
    method: 'PATCH',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/variants',
  },
  ifMatch: 'feature environment',
  permission: 'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
  body: JsonPatch,
  reply: Variants,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError'],
});

export const PatchFeatureVariants = defineOperation({
  subject: 'call.features.patch-feature-variants',
  summary: 'Patch the variants of a feature in every environment',
  description: 'Applies JSON patch operations to the list of variants of each environment.',
  http: { method: 'PATCH', url: '/api/admin/projects/:projectId/features/:featureName/variants' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE_VARIANTS',
  body: JsonPatch,
  reply: Variants,
  deprecated: true,
});

export const SetEnvironmentVariants = defineOperation({
  subject: 'call.features.set-environment-variants',
  operationId: 'overwriteEnvironmentFeatureVariants',
  summary: 'Set the variants of a feature in an environment',
  description: 'Replaces the variants. Weights of variable variants are computed.',
  http: {
    method: 'PUT',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/variants',
  },
  ifMatch: 'feature environment',
  permission: 'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
  body: VariantListBody,
  reply: Variants,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError'],
});

export const SetFeatureVariants = defineOperation({
  subject: 'call.features.set-feature-variants',
  operationId: 'overwriteFeatureVariants',
  summary: 'Set the variants of a feature in every environment',
  description: 'Replaces the variants in all environments of the project.',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/features/:featureName/variants' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE_VARIANTS',
  body: VariantListBody,
  reply: Variants,
  deprecated: true,
});

export const SetVariantsOfEnvironments = defineOperation({
  subject: 'call.features.set-variants-of-environments',
  operationId: 'overwriteFeatureVariantsOnEnvironments',
  summary: 'Set the variants of a feature in several environments',
  description: 'Replaces the variants in each of the environments.',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/features/:featureName/variants-batch' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
  body: VariantsBatchBody,
  reply: Variants,
});
