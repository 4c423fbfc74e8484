import { type Static, Type } from 'typebox';
import { Nullable, Timestamp } from './schema.ts';
import { FeatureStrategy } from './strategy.ts';
import { FeatureVariant } from './variant.ts';

const type = Type.String({ description: 'the type of the environment' });

const members = {
  name: Type.String({ description: 'the name of the environment' }),
  featureName: Type.Optional(Type.String({ description: 'the name of the feature' })),
  environment: Type.Optional(Type.String({ description: 'the name of the environment' })),
  enabled: Type.Boolean({ description: 'whether the feature is enabled in this environment' }),
  sortOrder: Type.Optional(Type.Number({ description: 'the place in the list of environments' })),
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
  hasStrategies: Type.Optional(Type.Boolean({ description: 'whether there is any strategy' })),
  hasEnabledStrategies: Type.Optional(Type.Boolean({ description: 'whether there is any enabled strategy' })),
  yes: Type.Optional(
    Type.Integer({ description: 'evaluations to true in the last hour bucket; promised in search results' }),
  ),
  no: Type.Optional(
    Type.Integer({ description: 'evaluations to false in the last hour bucket; promised in search results' }),
  ),
} as const;

/** A feature as it is set in one environment. */
export const FeatureEnvironment = Type.Object(
  { ...members, type: Type.Optional(type) },
  { title: 'featureEnvironmentSchema', description: 'A feature as it is set in one environment.' },
);
export type FeatureEnvironment = Static<typeof FeatureEnvironment>;

/** A feature in one environment, as a search shows it. */
export const SearchFeatureEnvironment = Type.Object(
  { ...members, type },
  { title: 'featureSearchEnvironmentSchema', description: 'A feature in one environment, as a search shows it.' },
);
export type SearchFeatureEnvironment = Static<typeof SearchFeatureEnvironment>;

/** A feature in one environment, as it is read alone. */
export const FeatureInEnvironment = Type.Object(
  {
    name: Type.String({ description: 'the name of the feature' }),
    environment: Type.String({ description: 'the name of the environment' }),
    enabled: Type.Boolean({ description: 'whether the feature is enabled there' }),
    strategies: Type.Array(FeatureStrategy, { description: 'its strategies, in their order' }),
  },
  { description: 'A feature in one environment.' },
);
export type FeatureInEnvironment = Static<typeof FeatureInEnvironment>;

export const ActivationQuery = Type.Object({
  shouldActivateDisabledStrategies: Type.Optional(
    Type.Boolean({
      description: 'whether disabled strategies are enabled, instead of adding the default strategy; default: false',
    }),
  ),
});
