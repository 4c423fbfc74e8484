import { type Static, Type } from 'typebox';
import { ProjectFeature } from '../features/feature.ts';
import { ProjectOwner } from './project-owner.ts';
import { FeatureTypeCounts } from './feature-type-counts.ts';
import { OnboardingStatus } from './onboarding-status.ts';
import { ProjectStats } from './project-stats.ts';
import { Constant, Nullable, Timestamp } from '../schema.ts';
import { StrategyProperties } from '../strategies/strategy.ts';

/** The naming pattern for features of a project. */
export const FeatureNaming = Type.Object(
  {
    pattern: Nullable(Type.String({ maxLength: 500 }), {
      description: 'a regular expression that the whole name must match; null: any name',
    }),
    example: Type.Optional(Nullable(Type.String({ maxLength: 100 }), { description: 'a name that matches' })),
    description: Type.Optional(Nullable(Type.String({ maxLength: 1_000 }), { description: 'the pattern in words' })),
  },
  { title: 'createFeatureNamingPatternSchema', description: 'The naming pattern of the features of a project.' },
);
export type FeatureNaming = Static<typeof FeatureNaming>;

const overview = {
  version: Constant(1, 'the version of this format'),
  name: Type.String({ description: 'the name of the project' }),
  description: Type.Optional(Nullable(Type.String(), { description: 'the description of the project' })),
  mode: Type.Enum(['open', 'protected', 'private'], {
    type: 'string',
    description: 'the mode, which sets who may see and change the project',
  }),
  defaultStickiness: Type.String({ description: 'the stickiness that new strategies get' }),
  featureLimit: Nullable(
    Type.Integer({ description: 'the maximum number of active features of the project; null: unlimited' }),
  ),
  featureNaming: Type.Optional(FeatureNaming),
  health: Type.Number({ description: 'the share of features that are not stale, in percent' }),
  favorite: Type.Boolean({ description: 'whether it is a favourite of the caller' }),
  members: Type.Integer({ description: 'the number of users who have a role in it, themselves or through a group' }),
  owners: Type.Optional(Type.Array(ProjectOwner, { description: 'the owners: users, then groups, by name' })),
  createdAt: Nullable(Timestamp('when the project was created')),
  updatedAt: Nullable(Timestamp('when the project last changed, or was created')),
  archivedAt: Type.Optional(Nullable(Timestamp('when the project was archived'))),
  environments: Type.Array(
    Type.Object({
      environment: Type.String({ description: 'the name of the environment' }),
      defaultStrategy: Type.Optional(Nullable(StrategyProperties)),
    }),
    { description: 'the environments of the project' },
  ),
  featureTypeCounts: FeatureTypeCounts,
  stats: Type.Optional(ProjectStats),
  onboardingStatus: OnboardingStatus,
};

/** A project with its settings and its counts. */
export const ProjectOverview = Type.Object(overview, {
  title: 'projectOverviewSchema',
  description: 'A project with its settings and its counts.',
});
export type ProjectOverview = Static<typeof ProjectOverview>;

const features = Type.Array(ProjectFeature, { description: 'the features of the project that are not archived' });

/** A project with its features. */
export const ProjectWithFeatures = Type.Object(
  { ...overview, features },
  { title: 'deprecatedProjectOverviewSchema', description: 'A project with its features.' },
);
export type ProjectWithFeatures = Static<typeof ProjectWithFeatures>;

/** A project with its features and its health. */
export const ProjectHealth = Type.Object(
  {
    ...overview,
    features,
    activeCount: Type.Integer({ description: 'the number of features that are not stale' }),
    potentiallyStaleCount: Type.Integer({
      description: 'the number of features that are not stale, but older than their type expects',
    }),
    staleCount: Type.Integer({ description: 'the number of stale features' }),
  },
  { title: 'healthReportSchema', description: 'A project with its features and its health.' },
);
export type ProjectHealth = Static<typeof ProjectHealth>;
