import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { AnyObject, Constant, Nullable } from '../schemas.ts';

const defineOperation = operationsOf('Strategies');

const name = Type.String({ description: 'the name by which strategies refer to the type' });
const description = Nullable(Type.String(), { description: 'the description of the strategy type' });
const title = Nullable(Type.String(), { description: 'the name for people' });

export const StrategyTypeParameter = Type.Object(
  {
    name: Type.String({ minLength: 1, description: 'the name of the parameter' }),
    type: Type.Optional(
      Type.String({ description: 'the type of its input: string, percentage, list, number or boolean' }),
    ),
    description: Type.Optional(Type.String({ description: 'the description of the parameter' })),
    required: Type.Optional(Type.Boolean({ description: 'whether a strategy must have it; default: false' })),
  },
  { description: 'A setting that strategies of a type have.' },
);
const parameters = Type.Array(StrategyTypeParameter, { description: 'the settings that strategies of this type have' });

/** A strategy type: built in, or custom and evaluated by the users' own SDKs. */
export const StrategyType = Type.Object(
  {
    name,
    displayName: Nullable(Type.String(), { description: 'the name for people' }),
    title: Type.Optional(title),
    description,
    editable: Type.Boolean({ description: 'whether it was added, and may be changed' }),
    deprecated: Type.Boolean({ description: 'whether it is not offered any more' }),
    parameters: Type.Array(AnyObject(), { description: 'the settings that strategies of this type have' }),
  },
  { title: 'strategySchema', description: 'A kind of strategy.' },
);
export type StrategyType = Static<typeof StrategyType>;

export const StrategyTypes = Type.Object(
  {
    version: Constant(1, 'the version of this format'),
    strategies: Type.Array(StrategyType, { description: 'the strategy types' }),
  },
  { title: 'strategiesSchema', description: 'The strategy types.' },
);

export const CreateStrategyTypeBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, description: 'the name, unique among all strategy types' }),
    title: Type.Optional(title),
    description: Type.Optional(description),
    parameters,
  },
  { title: 'createStrategySchema', description: 'The properties of a new strategy type.' },
);
export type CreateStrategyTypeBody = Static<typeof CreateStrategyTypeBody>;

export const UpdateStrategyTypeBody = Type.Object(
  { title: Type.Optional(title), description: Type.Optional(description), parameters },
  { title: 'updateStrategySchema', description: 'The new properties of a strategy type.' },
);
export type UpdateStrategyTypeBody = Static<typeof UpdateStrategyTypeBody>;

/** Emits `strategy-created`. */
export const CreateStrategyType = defineOperation({
  subject: 'call.features.create-strategy-type',
  operationId: 'createStrategy',
  summary: 'Create a strategy type',
  description: 'Adds a strategy type that custom SDKs evaluate.',
  http: {
    method: 'POST',
    url: '/api/admin/strategies',
    status: 201,
    location: (_request: unknown, { name }: { name: string }) => `strategies/${encodeURIComponent(name)}`,
  },
  permission: 'CREATE_STRATEGY',
  body: CreateStrategyTypeBody,
  reply: StrategyType,
  errors: ['ValidationError', 'NameExistsError'],
});

/** Emits `strategy-deleted`. */
export const DeleteStrategyType = defineOperation({
  subject: 'call.features.delete-strategy-type',
  operationId: 'removeStrategy',
  summary: 'Delete a strategy type',
  description: 'Removes a strategy type that was added.',
  http: { method: 'DELETE', url: '/api/admin/strategies/:name', anyContentType: true },
  permission: 'DELETE_STRATEGY',
  errors: ['NotFoundError', 'OperationDeniedError', 'ConflictError'],
});

/** Emits `strategy-deprecated`. */
export const DeprecateStrategyType = defineOperation({
  subject: 'call.features.deprecate-strategy-type',
  operationId: 'deprecateStrategy',
  summary: 'Deprecate a strategy type',
  description: 'Deprecates a strategy type. Strategies that use it do not change; user interfaces no longer offer it.',
  http: { method: 'POST', url: '/api/admin/strategies/:name/deprecate', anyContentType: true },
  permission: 'UPDATE_STRATEGY',
  errors: ['NotFoundError', 'OperationDeniedError'],
});

export const GetStrategyType = defineOperation({
  subject: 'call.features.get-strategy-type',
  operationId: 'getStrategy',
  summary: 'Get a strategy type',
  description: 'Returns one strategy type.',
  http: { method: 'GET', url: '/api/admin/strategies/:name' },
  permission: 'authenticated',
  reply: StrategyType,
});

export const ListStrategyTypes = defineOperation({
  subject: 'call.features.list-strategy-types',
  operationId: 'getAllStrategies',
  summary: 'List the strategy types',
  description: 'Returns the built-in strategy types and those that were added.',
  http: { method: 'GET', url: '/api/admin/strategies' },
  permission: 'authenticated',
  reply: StrategyTypes,
});

/** Emits `strategy-reactivated`. */
export const ReactivateStrategyType = defineOperation({
  subject: 'call.features.reactivate-strategy-type',
  operationId: 'reactivateStrategy',
  summary: 'Reactivate a strategy type',
  description: 'Reverts the deprecation of a strategy type.',
  http: { method: 'POST', url: '/api/admin/strategies/:name/reactivate', anyContentType: true },
  permission: 'UPDATE_STRATEGY',
});

/** Emits `strategy-updated`. */
export const UpdateStrategyType = defineOperation({
  subject: 'call.features.update-strategy-type',
  operationId: 'updateStrategy',
  summary: 'Update a strategy type',
  description: 'Changes the description, the title or the parameters of a strategy type that was added.',
  http: { method: 'PUT', url: '/api/admin/strategies/:name' },
  permission: 'UPDATE_STRATEGY',
  body: UpdateStrategyTypeBody,
  errors: ['ValidationError', 'NotFoundError', 'OperationDeniedError'],
});
