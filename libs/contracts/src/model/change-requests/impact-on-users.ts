import { type Static, Type } from 'typebox';
import { ChangesBody } from '../../changes/change.ts';
import { AnyObject } from '../schema.ts';

const share = (description: string) => Type.Number({ minimum: 0, maximum: 100, description });

/** Changes whose effect on users is to be computed. */
export const ImpactBody = Type.Object(
  {
    project: Type.String({ minLength: 1, maxLength: 100, description: 'the project of the changes' }),
    environment: Type.String({ minLength: 1, maxLength: 100, description: 'the environment of the changes' }),
    changes: Type.Unsafe<unknown>({ type: ['object', 'array'], documentation: ChangesBody }),
    contexts: Type.Optional(
      Type.Array(AnyObject({ description: 'the context of a user, as the playground takes it' }), {
        maxItems: 20,
        description: 'example users, who are evaluated before and after',
      }),
    ),
  },
  { title: 'changeImpactRequestSchema', description: 'Changes, and example users.' },
);
export type ImpactBody = Static<typeof ImpactBody>;

const ExampleResult = Type.Object(
  {
    isEnabled: Type.Boolean({ description: 'whether the feature is on for the user' }),
    variant: Type.String({ description: 'the name of the variant; `disabled` where there is none' }),
  },
  { description: 'the evaluation for the user' },
);

/** Users with the same values of the context fields that constraints compare. */
const UsersWithSameContext = Type.Object(
  {
    context: Type.Unsafe<Record<string, string>>(
      Type.Object(
        {},
        {
          additionalProperties: Type.String(),
          description: 'the values of the context fields that constraints compare; a field that is absent has no value',
        },
      ),
    ),
    before: share('the percentage of these users for whom the feature is on now'),
    after: share('the percentage for whom it would be on'),
    gains: share('the percentage for whom it would be turned on'),
    loses: share('the percentage for whom it would be turned off'),
    changesVariant: share('the percentage for whom it would stay on with another variant'),
  },
  { title: 'changeImpactGroupSchema', description: 'A group of users, with the effect of the changes on them.' },
);

const FeatureImpact = Type.Object(
  {
    name: Type.String({ description: 'the name of the feature' }),
    isComplete: Type.Boolean({
      description: 'false where a strategy is of a type that only the application can evaluate: it counts as off',
    }),
    groups: Type.Array(UsersWithSameContext, { description: 'groups of users; the first has none of the values' }),
    examples: Type.Array(Type.Object({ before: ExampleResult, after: ExampleResult }), {
      description: 'the example users, in the order of the request',
    }),
  },
  { title: 'changeImpactFeatureSchema', description: 'The effect of the changes on the users of a feature.' },
);
export type FeatureImpact = Static<typeof FeatureImpact>;

export const ImpactResult = Type.Object(
  {
    users: Type.Integer({ description: 'the number of generated users that each percentage refers to' }),
    features: Type.Array(FeatureImpact, {
      description: 'the features that are changed or use a changed segment, by name; not those that depend on them',
    }),
  },
  { title: 'changeImpactSchema', description: 'The effect of changes on users.' },
);
export type ImpactResult = Static<typeof ImpactResult>;
