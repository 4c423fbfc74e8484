import { type Static, Type } from 'typebox';
import { ProjectFeature } from '../features/feature.ts';
import { Constant, Nullable, Timestamp } from '../schemas.ts';
import { StrategyProperties } from '../strategies/strategies.ts';

export const FeatureTypeCounts = Type.Array(
  Type.Object({
    type: Type.String({ description: 'the feature type' }),
    count: Type.Integer({ description: 'the number of active features of it' }),
  }),
  { description: 'the number of active features of each type' },
);

export const OnboardingStatus = Type.Union(
  [
    Type.Object({
      status: Type.Enum(['onboarding-started', 'onboarded'], {
        type: 'string',
        description: '`onboarding-started`: there is no feature yet; `onboarded`: an SDK has used the project',
      }),
    }),
    Type.Object({
      status: Type.Enum(['first-flag-created'], { type: 'string', description: 'no SDK has used the project yet' }),
      feature: Type.String({ description: 'the oldest feature of the project' }),
    }),
  ],
  { description: 'the onboarding status of the project' },
);

/** An owner of a project: a user or group with the role Owner, or the system when there is none. */
export const ProjectOwner = Type.Object(
  {
    ownerType: Type.Enum(['user', 'group', 'system'], { type: 'string', description: 'the kind of the owner' }),
    name: Type.Optional(Type.String({ description: 'the name of the user or the group' })),
    email: Type.Optional(Nullable(Type.String(), { description: 'the e-mail address of the user' })),
    imageUrl: Type.Optional(Type.String({ description: 'a picture of the user' })),
  },
  { title: 'projectOwnerSchema', description: 'An owner of a project.' },
);
export type ProjectOwner = Static<typeof ProjectOwner>;

function number(description: string) {
  return Type.Number({ minimum: 0, description });
}

/** What happened in a project in the last 30 days (the current window) and in the 30 days before (the past one). */
export const ProjectStats = Type.Object(
  {
    avgTimeToProdCurrentWindow: number(
      'the average number of days from the creation of a feature until it was first enabled in production, of those that were in the current window',
    ),
    createdCurrentWindow: number('how many features were created in the current window; deleted ones are not counted'),
    createdPastWindow: number('how many features were created in the past window; deleted ones are not counted'),
    archivedCurrentWindow: number('how many features were archived in the current window and still are'),
    archivedPastWindow: number('how many features were archived in the past window and still are'),
    projectActivityCurrentWindow: number('how many events there were in the current window, by days of UTC'),
    projectActivityPastWindow: number('how many events there were in the past window, by days of UTC'),
    projectMembersAddedCurrentWindow: number('how many members were added in the current window'),
  },
  {
    title: 'projectStatsSchema',
    description: 'The activity of a project in the last 30 days, and in the 30 days before.',
  },
);

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

export const ProjectOverview = Type.Object(overview, {
  title: 'projectOverviewSchema',
  description: 'A project with its settings and its counts.',
});
export type ProjectOverview = Static<typeof ProjectOverview>;

const features = Type.Array(ProjectFeature, { description: 'the features of the project that are not archived' });

export const ProjectWithFeatures = Type.Object(
  { ...overview, features },
  { title: 'deprecatedProjectOverviewSchema', description: 'A project with its features.' },
);

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
