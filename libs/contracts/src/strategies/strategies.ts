import { type Static, Type } from 'typebox';
import { StrategyVariant, StrategyVariantBody } from '../features/variants.ts';
import { operationsOf } from '../operation.ts';
import { JsonPatch, maxId, Nullable, TextByKey } from '../schemas.ts';
import { Constraint, ConstraintBody } from './constraints.ts';

const defineOperation = operationsOf('Features');

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
export const StrategyConstraints = Type.Array(Constraint, {
  description: 'all of these must hold for the strategy to match',
});
const variants = Type.Array(StrategyVariant, { description: 'the variants among which matching users are divided' });
export const StrategyParameters = TextByKey({
  title: 'parametersSchema',
  description: 'the settings of the strategy, by name; every value is text',
});

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

export const StrategyPosition = Type.Object(
  { id: Type.String({ description: 'the id of the strategy' }), sortOrder },
  { description: 'The sort order of one strategy.' },
);
export type StrategyPosition = Static<typeof StrategyPosition>;

export const FeatureStrategies = Type.Array(FeatureStrategy, { description: 'the strategies, in their order' });

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

/** Emits `feature-strategy-add`. */
export const AddStrategy = defineOperation({
  subject: 'call.features.add-strategy',
  operationId: 'addFeatureStrategy',
  summary: 'Add a strategy to a feature',
  description: 'Adds a strategy to a feature in an environment. It does not enable the feature there.',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies',
  },
  ifMatch: 'feature environment',
  permission: 'CREATE_FEATURE_STRATEGY',
  body: CreateStrategyBody,
  reply: FeatureStrategy,
  errors: ['ValidationError', 'ExceedsLimitError', 'NotFoundError'],
});

/** Emits `feature-strategy-remove`, after `feature-environment-disabled` when it was the last enabled one. */
export const DeleteStrategy = defineOperation({
  subject: 'call.features.delete-strategy',
  operationId: 'deleteFeatureStrategy',
  summary: 'Delete a strategy',
  description: 'Removes a strategy. When no enabled strategy is left, the feature is disabled in the environment.',
  http: {
    method: 'DELETE',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies/:strategyId',
    anyContentType: true,
  },
  ifMatch: 'strategy',
  permission: 'DELETE_FEATURE_STRATEGY',
});

export const GetStrategy = defineOperation({
  subject: 'call.features.get-strategy',
  operationId: 'getFeatureStrategy',
  summary: 'Get a strategy',
  description: 'Returns one strategy of a feature in an environment.',
  http: {
    method: 'GET',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies/:strategyId',
  },
  permission: 'authenticated',
  reply: FeatureStrategy,
});

export const ListStrategies = defineOperation({
  subject: 'call.features.list-strategies',
  operationId: 'getFeatureStrategies',
  summary: 'List the strategies of a feature in an environment',
  description: 'Returns the strategies in their order.',
  http: {
    method: 'GET',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies',
  },
  permission: 'authenticated',
  reply: FeatureStrategies,
});

/** Emits `feature-strategy-update`. */
export const PatchStrategy = defineOperation({
  subject: 'call.features.patch-strategy',
  operationId: 'patchFeatureStrategy',
  summary: 'Update specific properties of a strategy',
  description:
    'Changes specific properties of one strategy of a feature in an environment. The steps of the patch are applied one after the other, all of them or none.',
  http: {
    method: 'PATCH',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies/:strategyId',
  },
  ifMatch: 'strategy',
  permission: 'UPDATE_FEATURE_STRATEGY',
  body: JsonPatch,
  reply: FeatureStrategy,
  errors: ['ValidationError', 'ExceedsLimitError', 'NotFoundError'],
});

/** Emits `strategy-order-changed`. */
export const SetStrategyOrder = defineOperation({
  subject: 'call.features.set-strategy-order',
  operationId: 'setStrategySortOrder',
  summary: 'Set the order of strategies',
  description: 'Sets the positions of strategies of a feature in an environment.',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies/set-sort-order',
  },
  ifMatch: 'feature environment',
  permission: 'UPDATE_FEATURE_STRATEGY',
  body: StrategyPositions,
});

/**
 * Merges the body into a strategy, except constraints and variants, which are replaced. Emits `feature-strategy-update`, before
 * `feature-environment-disabled` when it disables the last enabled one.
 */
export const UpdateStrategy = defineOperation({
  subject: 'call.features.update-strategy',
  operationId: 'updateFeatureStrategy',
  summary: 'Update a strategy',
  description:
    'Updates the properties in the body, and the parameters in `parameters`; what is omitted, or null, does not change. Constraints and variants alone are always replaced: without them, a strategy has none.',
  http: {
    method: 'PUT',
    url: '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies/:strategyId',
  },
  ifMatch: 'strategy',
  permission: 'UPDATE_FEATURE_STRATEGY',
  body: UpdateStrategyBody,
  reply: FeatureStrategy,
  errors: ['ValidationError', 'ExceedsLimitError', 'NotFoundError'],
});

export const ValidateConstraint = defineOperation({
  subject: 'call.features.validate-constraint',
  summary: 'Validate a constraint',
  description: 'Validates a constraint as for a strategy. Nothing is stored.',
  http: { method: 'POST', url: '/api/admin/constraints/validate', status: 204 },
  permission: 'authenticated',
  readsOnly: true,
  body: ConstraintBody,
  errors: ['ValidationError', 'ExceedsLimitError', 'NotFoundError'],
});
