import { type Static, Type } from 'typebox';
import { ImpactBody, ImpactResult } from '../change-requests/queries.ts';
import { operationsOf } from '../operation.ts';
import { AnyObject, maxId, Nullable } from '../schemas.ts';
import { Constraint } from '../strategies/constraints.ts';
import { StrategyParameters } from '../strategies/strategies.ts';
import { FeatureVariant, Payload } from './variants.ts';

const defineOperation = operationsOf('Playground');

const environment = Type.String({ minLength: 1, maxLength: 100, description: 'the environment to evaluate in' });
const projects = Type.Optional(
  Type.Union([Type.Array(Type.String({ maxLength: 100 }), { maxItems: 500 }), Type.Literal('*')], {
    description: 'the projects whose features are evaluated; `*`, none or an empty list: every one',
  }),
);
const changeRequest = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: maxId,
    description: 'the id of a change request: features are evaluated as if it had been applied',
  }),
);
const features = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    minItems: 1,
    maxItems: 100,
    description: 'the names of the features that are evaluated; default: every one of the projects',
  }),
);
const context = AnyObject({
  description:
    'the context: `userId`, `sessionId`, `remoteAddress`, `currentTime`, `appName` and any other field, further fields in `properties`',
});

export const PlaygroundBody = Type.Object(
  { environment, projects, context, changeRequest },
  { title: 'playgroundRequestSchema', description: 'The environments and contexts in which to evaluate features.' },
);
export type PlaygroundBody = Static<typeof PlaygroundBody>;

/** A request to evaluate features in several environments, for every combination of context values. */
export const AdvancedPlaygroundBody = Type.Object(
  {
    environments: Type.Array(environment, { minItems: 1, maxItems: 50, description: 'the environments' }),
    projects,
    context: AnyObject({
      description: 'the context; every combination of values that are separated by commas is evaluated',
    }),
    changeRequest,
    features,
  },
  {
    title: 'advancedPlaygroundRequestSchema',
    description: 'The environments and contexts in which to evaluate features.',
  },
);
export type AdvancedPlaygroundBody = Static<typeof AdvancedPlaygroundBody>;

const PlaygroundConstraint = Type.Object(
  {
    ...Constraint.properties,
    operator: Type.String({ description: 'how the value of the context field is compared' }),
    result: Type.Boolean({ description: 'whether the constraint matches the context' }),
  },
  { title: 'playgroundConstraintSchema', description: 'A constraint, and whether it matches the context.' },
);

const PlaygroundSegment = Type.Object(
  {
    id: Type.Integer({ description: 'the id of the segment' }),
    name: Type.String({ description: 'its name' }),
    result: Type.Boolean({ description: 'whether all of its constraints match' }),
    constraints: Type.Array(PlaygroundConstraint, { description: 'its constraints' }),
  },
  { title: 'playgroundSegmentSchema', description: 'A segment, and whether it matches the context.' },
);

const PlaygroundVariant = Nullable(
  Type.Object({
    name: Type.String({ description: 'the variant; `disabled` where there is none' }),
    enabled: Type.Boolean({ description: 'whether a variant applies' }),
    payload: Type.Optional(Payload),
    feature_enabled: Type.Optional(Type.Boolean({ description: 'whether the feature is on' })),
  }),
  { description: 'the variant that the context gets' },
);

const result = Type.Union([Type.Boolean(), Type.Literal('unknown')], {
  description: '`unknown` where only the application can evaluate it',
});

const PlaygroundStrategy = Type.Object(
  {
    id: Type.String({ description: 'the id of the strategy' }),
    name: Type.String({ description: 'its type' }),
    title: Type.Optional(Nullable(Type.String(), { description: 'its title' })),
    disabled: Type.Boolean({ description: 'whether it is disabled, and therefore not evaluated' }),
    parameters: StrategyParameters,
    constraints: Type.Array(PlaygroundConstraint, { description: 'its constraints' }),
    segments: Type.Array(PlaygroundSegment, { description: 'its segments' }),
    result: Type.Object(
      {
        evaluationStatus: Type.Enum(['complete', 'incomplete', 'unevaluated'], {
          type: 'string',
          description:
            '`incomplete` where only the application can evaluate the type, `unevaluated` where it is disabled',
        }),
        enabled: result,
        variant: Type.Optional(PlaygroundVariant),
        variants: Type.Optional(
          Type.Array(FeatureVariant, { description: 'its variants, of which the context gets that one' }),
        ),
        rollout: Type.Optional(
          Type.Object(
            {
              percentage: Type.Number({ description: 'the percentage of the rollout' }),
              bucket: Nullable(Type.Integer({ minimum: 1, maximum: 100 }), {
                description:
                  'the bucket of the context: it is on when this is at most the percentage; null without a value to stick to',
              }),
              stickiness: Type.String({ description: 'the context field that decides the bucket' }),
              groupId: Type.String({ description: 'the group that the bucket depends on' }),
            },
            { description: 'of a gradual rollout: the bucket of the context' },
          ),
        ),
      },
      { description: 'the result of the strategy' },
    ),
    links: Type.Object({ edit: Type.String({ description: 'the path of the page that edits it' }) }),
  },
  { title: 'playgroundStrategySchema', description: 'A strategy, with its result for the context.' },
);

const evaluation = {
  name: Type.String({ description: 'the name of the feature' }),
  projectId: Type.String({ description: 'its project' }),
  isEnabled: Type.Boolean({ description: 'whether it is on for the context; an unknown result is off, as in SDKs' }),
  isEnabledInCurrentEnvironment: Type.Boolean({ description: 'whether it is enabled in the environment' }),
  hasUnsatisfiedDependency: Type.Boolean({ description: 'whether a feature that it depends on keeps it off' }),
  dependencies: Type.Array(
    Type.Object({
      feature: Type.String({ description: 'the feature that it depends on' }),
      enabled: Type.Boolean({ description: 'whether that must be on' }),
      variants: Type.Array(Type.String(), { description: 'the variants of which it must have one; none: any' }),
      result: Type.Boolean({ description: 'whether it is as it must be for the context' }),
    }),
    { description: 'the features that it depends on, and whether each is as it must be' },
  ),
  variant: PlaygroundVariant,
  variants: Type.Array(FeatureVariant, {
    description: 'the variants of the strategy that is on, else those of the feature in the environment',
  }),
  strategies: Type.Object(
    { result, data: Type.Array(PlaygroundStrategy, { description: 'each strategy' }) },
    { description: 'the result of its strategies together, and of each' },
  ),
};

export const PlaygroundFeature = Type.Object(evaluation, {
  title: 'playgroundFeatureSchema',
  description: 'A feature, evaluated for a context, and why.',
});
export type PlaygroundFeature = Static<typeof PlaygroundFeature>;

export const PlaygroundResult = Type.Object(
  {
    input: PlaygroundBody,
    features: Type.Array(PlaygroundFeature, { description: 'the features, by name' }),
  },
  { title: 'playgroundResponseSchema', description: 'The evaluations of features for a context, with the reasons.' },
);

const AdvancedPlaygroundEvaluation = Type.Object(
  {
    ...evaluation,
    environment: Type.String({ description: 'the environment' }),
    context,
  },
  { title: 'advancedPlaygroundEnvironmentFeatureSchema', description: 'A feature, evaluated in one environment.' },
);

export const AdvancedPlaygroundResult = Type.Object(
  {
    input: AdvancedPlaygroundBody,
    features: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'the name of the feature' }),
          projectId: Type.String({ description: 'its project' }),
          environments: Type.Unsafe<Record<string, Static<typeof AdvancedPlaygroundEvaluation>[]>>({
            type: 'object',
            additionalProperties: Type.Array(AdvancedPlaygroundEvaluation),
            description: 'by environment: one evaluation for each combination of context values',
          }),
        },
        { title: 'advancedPlaygroundFeatureSchema', description: 'A feature, evaluated in each environment.' },
      ),
      { description: 'the features, by name' },
    ),
    warnings: Type.Object(
      {
        invalidContextProperties: Type.Optional(
          Type.Array(Type.String(), {
            description: 'fields that were ignored, since they are not texts, numbers or booleans',
          }),
        ),
      },
      { description: 'the ignored parts of the request' },
    ),
  },
  { title: 'advancedPlaygroundResponseSchema', description: 'The evaluations of features, with the reasons.' },
);
export type AdvancedPlaygroundResult = Static<typeof AdvancedPlaygroundResult>;

export const PlaygroundTableBody = Type.Object(
  {
    environments: Type.Array(environment, { minItems: 1, maxItems: 50, description: 'the environments' }),
    projects,
    contexts: Type.Array(
      AnyObject({ description: 'a context; every combination of values that are separated by commas is evaluated' }),
      { minItems: 1, maxItems: 50, description: 'the contexts' },
    ),
    changeRequest,
    onlyConcerned: Type.Optional(
      Type.Boolean({
        description:
          'whether the table has only features that the change request changes, that use a segment that it changes, or that depend on a changed one; default: false',
      }),
    ),
    query: Type.Optional(Type.String({ maxLength: 100, description: 'text to find in the name, in any case' })),
    features,
    after: Type.Optional(Type.String({ maxLength: 100, description: 'the `next` of the page before' })),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description:
          'the maximum number of features on a page; default: 100. Fewer if more would take over 15,000 evaluations',
      }),
    ),
  },
  {
    title: 'playgroundTableRequestSchema',
    description: 'The environments and contexts in which to evaluate features, page by page.',
  },
);
export type PlaygroundTableBody = Static<typeof PlaygroundTableBody>;

const cell = {
  isEnabled: Type.Boolean({ description: 'whether it is on' }),
  variant: Nullable(Type.String(), { description: 'the name of its variant; null where there is none' }),
  isUnknown: Type.Boolean({ description: 'whether only the application can evaluate it; it counts as disabled' }),
};

export const PlaygroundCell = Type.Object(
  {
    ...cell,
    proposed: Type.Optional(
      Type.Object(cell, {
        description: 'the evaluation after the change request; absent if it would not differ',
      }),
    ),
  },
  { title: 'playgroundCellSchema', description: 'A feature in an environment, for a context.' },
);
export type PlaygroundCell = Static<typeof PlaygroundCell>;

export const PlaygroundTable = Type.Object(
  {
    contexts: Type.Array(Type.Unsafe<Record<string, string>>(context), {
      description: 'each combination of context values, in the order of the evaluations',
    }),
    features: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'the name of the feature' }),
          projectId: Type.String({ description: 'its project' }),
          environments: Type.Unsafe<Record<string, PlaygroundCell[]>>({
            type: 'object',
            additionalProperties: Type.Array(PlaygroundCell),
            description: 'by environment: one evaluation for each context',
          }),
        },
        { title: 'playgroundRowSchema', description: 'A feature, evaluated in each environment for each context.' },
      ),
      { description: 'the features of the page, by name' },
    ),
    total: Type.Integer({ description: 'the number of features on all pages' }),
    next: Nullable(Type.String(), { description: 'the `after` of the next page; null at the end' }),
    warnings: Type.Object(
      {
        invalidContextProperties: Type.Optional(
          Type.Array(Type.String(), {
            description: 'fields that were ignored, since they are not texts, numbers or booleans',
          }),
        ),
      },
      { description: 'the ignored parts of the request' },
    ),
  },
  { title: 'playgroundTableSchema', description: 'The evaluations of features, now and after a change request.' },
);
export type PlaygroundTable = Static<typeof PlaygroundTable>;

export const EvaluateAdvancedPlayground = defineOperation({
  subject: 'call.features.evaluate-advanced-playground',
  operationId: 'getAdvancedPlayground',
  summary: 'Evaluate features for many contexts in many environments',
  description:
    'Evaluates every feature in each environment for every combination of context values that are separated by commas, with the reasons. At most 15,000 evaluations in one request.',
  http: { method: 'POST', url: '/api/admin/playground/advanced' },
  isHeavy: true,
  permission: 'authenticated',
  readsOnly: true,
  body: AdvancedPlaygroundBody,
  reply: AdvancedPlaygroundResult,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});

/** Returns the users for whom changes would turn features on or off. */
export const EvaluateImpact = defineOperation({
  subject: 'call.features.evaluate-impact',
  operationId: 'evaluateChangeImpact',
  summary: 'Evaluate the effect of changes on users',
  description:
    'Evaluates generated users before and after changes, in groups by the context values that constraints compare, and example users; and says which of these users single constraints match. Only a request with constraints may have no changes. Nothing is stored. At most 20 features.',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/playground/impact' },
  isHeavy: true,
  permission: 'authenticated',
  readsOnly: true,
  body: ImpactBody,
  reply: ImpactResult,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});

/** Evaluates features for many contexts in many environments, page by page, now and as if a change request were applied. */
export const EvaluatePlaygroundTable = defineOperation({
  subject: 'call.features.evaluate-playground-table',
  operationId: 'getPlaygroundTable',
  summary: 'Evaluate features as a table',
  description:
    'Evaluates a page of features in each environment for each context: now, and after a change request. The advanced playground returns the reasons.',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/playground/table' },
  isHeavy: true,
  permission: 'authenticated',
  readsOnly: true,
  body: PlaygroundTableBody,
  reply: PlaygroundTable,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});

export const EvaluatePlayground = defineOperation({
  subject: 'call.features.evaluate-playground',
  operationId: 'getPlayground',
  summary: 'Evaluate features for a context',
  description: 'Evaluates every feature as server-side SDKs do, with the reasons.',
  http: { method: 'POST', url: '/api/admin/playground' },
  isHeavy: true,
  permission: 'authenticated',
  readsOnly: true,
  body: PlaygroundBody,
  reply: PlaygroundResult,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
