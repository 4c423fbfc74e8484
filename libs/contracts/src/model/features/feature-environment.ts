import { type Static, Type } from 'typebox';
import { Nullable, Timestamp } from '../schema.ts';
import { FeatureStrategy } from '../strategies/strategy.ts';
import { FeatureVariant } from './variant.ts';

const type = Type.String({ description: 'the type of the environment' });

const members = {
  name: Type.String({ description: 'the name of the environment' }),
  featureName: Type.Optional(Type.String({ description: 'the name of the feature' })),
  environment: Type.Optional(Type.String({ description: 'the name of the environment' })),
  enabled: Type.Boolean({ description: 'whether the feature is enabled in this environment' }),
  sortOrder: Type.Optional(Type.Number({ description: 'the position in the list of environments' })),
  variantCount: Type.Optional(Type.Number({ description: 'the number of variants' })),
  strategies: Type.Optional(
    Type.Array(FeatureStrategy, { description: 'the strategies of the feature in this environment' }),
  ),
  variants: Type.Optional(
    Type.Array(FeatureVariant, { description: 'the variants of the feature in this environment' }),
  ),
  lastSeenAt: Type.Optional(
    Nullable(Timestamp('when metrics were last collected for the feature in this environment')),
  ),
  hasStrategies: Type.Optional(Type.Boolean({ description: 'whether it has any strategy' })),
  hasEnabledStrategies: Type.Optional(Type.Boolean({ description: 'whether it has any enabled strategy' })),
  yes: Type.Optional(
    Type.Integer({ description: 'evaluations to true in the last hour bucket; promised in search results' }),
  ),
  no: Type.Optional(
    Type.Integer({ description: 'evaluations to false in the last hour bucket; promised in search results' }),
  ),
} as const;

/** The settings of a feature in one environment. */
export const FeatureEnvironment = Type.Object(
  { ...members, type: Type.Optional(type) },
  { title: 'featureEnvironmentSchema', description: 'The settings of a feature in one environment.' },
);
export type FeatureEnvironment = Static<typeof FeatureEnvironment>;

/** A feature in one environment, in the results of a search. */
export const SearchFeatureEnvironment = Type.Object(
  { ...members, type },
  { title: 'featureSearchEnvironmentSchema', description: 'A feature in one environment, in the results of a search.' },
);
export type SearchFeatureEnvironment = Static<typeof SearchFeatureEnvironment>;

/** A feature in one environment, as the reply of its own operation. */
export const FeatureEnvironmentReply = Type.Object(
  {
    name: Type.String({ description: 'the name of the feature' }),
    environment: Type.String({ description: 'the name of the environment' }),
    enabled: Type.Boolean({ description: 'whether the feature is enabled there' }),
    strategies: Type.Array(FeatureStrategy, { description: 'its strategies, in their order' }),
  },
  { description: 'A feature in one environment.' },
);
export type FeatureEnvironmentReply = Static<typeof FeatureEnvironmentReply>;

export const ActivationQuery = Type.Object({
  shouldActivateDisabledStrategies: Type.Optional(
    Type.Boolean({
      description: 'whether disabled strategies are enabled, instead of adding the default strategy; default: false',
    }),
  ),
});
