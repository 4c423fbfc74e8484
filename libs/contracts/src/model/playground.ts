import { type Static, Type } from 'typebox';
import { Constraint } from './constraint.ts';
import { AnyObject, Nullable } from './schema.ts';
import { StrategyParameters } from './strategy.ts';
import { FeatureVariant, Payload } from './variant.ts';

const environment = Type.String({ minLength: 1, maxLength: 100, description: 'the environment to evaluate in' });
const projects = Type.Optional(
  Type.Union([Type.Array(Type.String({ maxLength: 100 }), { maxItems: 500 }), Type.Literal('*')], {
    description: 'the projects whose features are evaluated; `*`, none or an empty list: every one',
  }),
);
const changeRequest = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'the id of a change request: features are evaluated as if it had been applied',
  }),
);
const context = AnyObject({
  description:
    'the context: `userId`, `sessionId`, `remoteAddress`, `currentTime`, `appName` and any other field, further fields in `properties`',
});

/** A request to evaluate features in one environment for one context. */
export const PlaygroundBody = Type.Object(
  { environment, projects, context, changeRequest },
  { title: 'playgroundRequestSchema', description: 'What to evaluate features in and for.' },
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
  },
  { title: 'advancedPlaygroundRequestSchema', description: 'What to evaluate features in and for.' },
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
    enabled: Type.Boolean({ description: 'whether there is one' }),
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
            { description: 'of a gradual rollout: where the context stands in it' },
          ),
        ),
      },
      { description: 'what the strategy comes to' },
    ),
    links: Type.Object({ edit: Type.String({ description: 'the path of the page that edits it' }) }),
  },
  { title: 'playgroundStrategySchema', description: 'A strategy, and what it comes to for the context.' },
);

const evaluation = {
  name: Type.String({ description: 'the name of the feature' }),
  projectId: Type.String({ description: 'its project' }),
  isEnabled: Type.Boolean({ description: 'whether it is on for the context; an unknown result is off, as in SDKs' }),
  isEnabledInCurrentEnvironment: Type.Boolean({ description: 'whether it is enabled in the environment' }),
  hasUnsatisfiedDependency: Type.Boolean({ description: 'whether a feature that it depends on keeps it off' }),
  variant: PlaygroundVariant,
  variants: Type.Array(FeatureVariant, { description: 'its variants in the environment' }),
  strategies: Type.Object(
    { result, data: Type.Array(PlaygroundStrategy, { description: 'each strategy' }) },
    { description: 'what its strategies come to together, and each of them' },
  ),
};

/** A feature, evaluated. */
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
  { title: 'playgroundResponseSchema', description: 'What features come to for a context, and why.' },
);
export type PlaygroundResult = Static<typeof PlaygroundResult>;

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
      { description: 'what was ignored' },
    ),
  },
  { title: 'advancedPlaygroundResponseSchema', description: 'What features come to, and why.' },
);
export type AdvancedPlaygroundResult = Static<typeof AdvancedPlaygroundResult>;
