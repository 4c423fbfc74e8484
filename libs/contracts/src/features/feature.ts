import { Type, type Static } from 'typebox';
import { FeatureStrategy } from '../strategies/strategies.ts';
import { FeatureVariant } from './variants.ts';
import { Nullable, Timestamp, AnyObject, UrlFriendlyName, Constant } from '../schemas.ts';
import { UserReference } from '../access/account.ts';
import { Tag } from './tags.ts';
import { Lifecycle } from './lifecycle.ts';
import { Dependency } from './dependencies.ts';
import { featureMetadata, optionalFeatureSchemas } from './feature-fields.ts';
import { FeatureLink } from './links.ts';
import { Reach } from './reach.ts';

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

export const FeatureEnvironment = Type.Object(
  { ...members, type: Type.Optional(type) },
  { title: 'featureEnvironmentSchema', description: 'The settings of a feature in one environment.' },
);
export type FeatureEnvironment = Static<typeof FeatureEnvironment>;

export const SearchFeatureEnvironment = Type.Object(
  { ...members, type, reach: Type.Optional(Reach) },
  { title: 'featureSearchEnvironmentSchema', description: 'A feature in one environment, in the results of a search.' },
);

export const FeatureEnvironmentReply = Type.Object(
  {
    name: Type.String({ description: 'the name of the feature' }),
    environment: Type.String({ description: 'the name of the environment' }),
    enabled: Type.Boolean({ description: 'whether the feature is enabled there' }),
    strategies: Type.Array(FeatureStrategy, { description: 'its strategies, in their order' }),
  },
  { description: 'A feature in one environment.' },
);

export const ActivationQuery = Type.Object({
  shouldActivateDisabledStrategies: Type.Optional(
    Type.Boolean({
      description: 'whether disabled strategies are enabled, instead of adding the default strategy; default: false',
    }),
  ),
});

const name = Type.String({ description: 'the name, unique among all features' });
const project = Type.String({ description: 'the id of the project that the feature belongs to' });
const createdAt = Nullable(Timestamp('when the feature was created'));
const archivedAt = Nullable(Timestamp('when the feature was archived'));
const archived = Type.Boolean({ description: 'whether the feature is archived' });
const lastSeenAt = Nullable(Timestamp('when metrics were last collected'), {
  deprecated: true,
  description: 'deprecated; use `lastSeenAt` of the environment',
});

export const Feature = Type.Object(
  {
    name,
    ...optionalFeatureSchemas('schema'),
    archived: Type.Optional(archived),
    project: Type.Optional(project),
    enabled: Type.Optional(Type.Boolean({ description: 'whether the feature is enabled in any environment' })),
    favorite: Type.Optional(Type.Boolean({ description: 'whether it is a favourite of the caller' })),
    createdAt: Type.Optional(createdAt),
    createdBy: Type.Optional(UserReference),
    archivedAt: Type.Optional(archivedAt),
    lastSeenAt: Type.Optional(lastSeenAt),
    environments: Type.Optional(
      Type.Array(FeatureEnvironment, { description: 'the feature in each environment of its project' }),
    ),
    variants: Type.Optional(
      Type.Array(FeatureVariant, { deprecated: true, description: 'deprecated; use the variants of strategies' }),
    ),
    strategies: Type.Optional(
      Type.Array(AnyObject(), {
        deprecated: true,
        description: 'deprecated, to be removed in a later major version; use the strategies of the environments',
      }),
    ),
    tags: Type.Optional(Nullable(Type.Array(Tag), { description: 'the tags of the feature' })),
    children: Type.Optional(
      Type.Array(Type.String(), { description: 'the names of the features that depend on this one; experimental' }),
    ),
    lifecycle: Type.Optional(Lifecycle),
    dependencies: Type.Optional(
      Type.Array(Dependency, { description: 'the features that this one depends on; experimental' }),
    ),
    links: Type.Optional(Type.Array(FeatureLink, { description: 'the links of the feature, oldest first' })),
    collaborators: Type.Optional(
      Type.Object(
        {
          users: Type.Array(UserReference, {
            description: 'the users who changed the feature, most recent change first',
          }),
        },
        { description: 'the users who have worked on the feature' },
      ),
    ),
  },
  { title: 'featureSchema', description: 'A feature with its settings in every environment of its project.' },
);
export type Feature = Static<typeof Feature>;

/** A feature without its environments: the reply of a write to the feature itself. */
export const FeatureWithoutEnvironments = Type.Object(
  {
    name,
    ...featureMetadata,
    project,
    createdAt,
    archived,
    archivedAt: Type.Optional(archivedAt),
    lastSeenAt: Type.Optional(lastSeenAt),
  },
  { title: 'featureWithoutEnvironmentsSchema', description: 'A feature without its environments.' },
);
export type FeatureWithoutEnvironments = Static<typeof FeatureWithoutEnvironments>;

export const CreateFeatureBody = Type.Object(
  {
    name: UrlFriendlyName(
      'the name: 1 to 100 characters that need no escape in a URL, unique among all features, archived ones included',
    ),
    ...optionalFeatureSchemas('creation'),
    tags: Type.Optional(
      Nullable(Type.Array(Tag), { description: 'the tags that the feature gets; those that do not exist are created' }),
    ),
  },
  { title: 'createFeatureSchema', description: 'The properties of a new feature.' },
);
export type CreateFeatureBody = Static<typeof CreateFeatureBody>;

export const ProjectFeature = Type.Object(
  {
    name,
    ...featureMetadata,
    project,
    favorite: Type.Boolean({ description: 'whether it is a favourite of the caller' }),
    createdAt,
    archivedAt: Type.Optional(archivedAt),
    environments: Type.Array(FeatureEnvironment, { description: 'the feature in each environment of its project' }),
    createdBy: Type.Optional(UserReference),
    lastSeenAt: Type.Optional(lastSeenAt),
    tags: Type.Optional(Nullable(Type.Array(Tag), { description: 'the tags of the feature' })),
    lifecycle: Type.Optional(Lifecycle),
  },
  { title: 'projectFeatureSchema', description: 'A feature in the list of its project.' },
);
export type ProjectFeature = Static<typeof ProjectFeature>;

export const ProjectFeatures = Type.Object(
  {
    version: Constant(2, 'the version of this format'),
    features: Type.Array(ProjectFeature, { description: 'the features of the project that are not archived, by name' }),
  },
  { title: 'projectFeaturesSchema', description: 'The features of a project.' },
);
export type ProjectFeatures = Static<typeof ProjectFeatures>;

/** Omitted properties do not change. */
export const UpdateFeatureBody = Type.Object(
  {
    name: Type.Optional(Type.String({ description: 'the current name: a feature cannot be renamed' })),
    ...optionalFeatureSchemas('body'),
    archived: Type.Optional(Type.Boolean({ description: 'ignored: archive and revive have operations of their own' })),
  },
  { title: 'updateFeatureSchema', description: 'The properties of a feature to change.' },
);
export type UpdateFeatureBody = Static<typeof UpdateFeatureBody>;

export const CloneFeatureBody = Type.Object(
  {
    name: UrlFriendlyName('the name of the clone'),
    replaceGroupId: Type.Optional(
      Type.Boolean({ description: 'whether strategies get the name of the clone as their group; default: true' }),
    ),
  },
  { title: 'cloneFeatureSchema', description: 'The name of a clone.' },
);
export type CloneFeatureBody = Static<typeof CloneFeatureBody>;

export const ValidateFeatureNameBody = Type.Object(
  {
    name: UrlFriendlyName('the name to check'),
    projectId: Type.Optional(
      Nullable(Type.String(), { description: 'the project whose naming pattern it must match as well' }),
    ),
  },
  { title: 'validateFeatureSchema', description: 'A name to be checked.' },
);

const featureNames = Type.Array(Type.String(), { maxItems: 10_000, description: 'the names of the features' });

export const FeatureNamesBody = Type.Object(
  { features: featureNames },
  { title: 'batchFeaturesSchema', description: 'Names of features.' },
);

export const SetStaleBody = Type.Object(
  { features: featureNames, stale: featureMetadata.stale },
  { title: 'batchStaleSchema', description: 'Features, and whether they are stale.' },
);

export const MoveFeatureBody = Type.Object(
  { newProjectId: Type.String({ minLength: 1, description: 'the project that the feature moves to' }) },
  { title: 'changeProjectSchema', description: 'The target of the move of a feature.' },
);
