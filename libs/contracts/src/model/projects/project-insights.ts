import { type Static, Type } from 'typebox';
import { ProjectOwner } from './project-owner.ts';
import { Nullable, Timestamp } from '../schema.ts';
import { FeatureTypeCounts, OnboardingStatus, ProjectStats } from './project-stats.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });
const percent = (description: string) => Type.Integer({ minimum: 0, maximum: 100, description });

/** How long features of a project took from their creation until they were first enabled in production. */
export const ProjectDora = Type.Object(
  {
    projectAverage: Type.Optional(Type.Number({ description: 'the average of the features, in days' })),
    features: Type.Array(
      Type.Object({
        name: Type.String({ description: 'the name of the feature' }),
        timeToProduction: Type.Number({
          description: 'days until it was first enabled in an environment of type production',
        }),
      }),
      { description: 'the features that have been enabled in production, by name' },
    ),
  },
  { title: 'projectDoraMetricsSchema', description: 'The lead times of features to production.' },
);
export type ProjectDora = Static<typeof ProjectDora>;

/** Figures of a project. */
export const ProjectInsights = Type.Object(
  {
    stats: ProjectStats,
    featureTypeCounts: FeatureTypeCounts,
    health: Type.Object({
      rating: percent('the share of features that are not stale, in percent'),
      activeCount: count('the number of features that are not stale'),
      potentiallyStaleCount: count('the number of features that are not stale, but older than their type expects'),
      staleCount: count('the number of stale features'),
    }),
    leadTime: ProjectDora,
    members: Type.Object({
      currentMembers: count('the number of members'),
      change: Type.Integer({ description: 'the number of those added in the last 30 days' }),
    }),
  },
  { title: 'projectInsightsSchema', description: 'Figures of a project.' },
);
export type ProjectInsights = Static<typeof ProjectInsights>;

const stage = (which: string) =>
  Type.Object({
    averageDays: Nullable(Type.Number(), {
      description: `the average number of days that features have spent ${which}, until now for those that are still in it; null if none was`,
    }),
    currentFlags: count(`the number of features that are ${which}`),
  });

/** The resources of a project, its activity by day, its health and its features by lifecycle stage. */
export const ProjectStatus = Type.Object(
  {
    activityCountByDate: Type.Array(
      Type.Object({
        date: Type.String({ description: 'a day of UTC, such as 2026-11-22' }),
        count: count('the number of events of the project on that day'),
      }),
      { title: 'projectActivitySchema', description: 'the days of the last year with events, oldest first' },
    ),
    health: Type.Object({ current: percent('the share of features that are not stale, in percent') }),
    technicalDebt: Type.Object({ current: percent('the share of features that are stale, in percent') }),
    resources: Type.Object({
      apiTokens: count('the number of API tokens that give the project'),
      members: count('the number of members'),
      segments: count('the number of segments of the project alone'),
    }),
    staleFlags: Type.Object({ total: count('the number of stale features') }),
    lifecycleSummary: Type.Object({
      initial: stage('not used yet'),
      preLive: stage('used, and not in production'),
      live: stage('used in production'),
      completed: stage('completed'),
      archived: Type.Object({
        currentFlags: count('the number of archived features'),
        last30Days: count('the number of those archived in the last 30 days'),
      }),
    }),
  },
  { title: 'projectStatusSchema', description: 'The state of a project.' },
);
export type ProjectStatus = Static<typeof ProjectStatus>;

/** The caller's projects (those with a role of the caller) and features (those that the caller created or marked as favourites). */
export const PersonalDashboard = Type.Object(
  {
    projects: Type.Array(
      Type.Object({
        id: Type.String({ description: 'the id of the project' }),
        name: Type.String({ description: 'its name' }),
        health: percent('the share of its features that are not stale, in percent'),
        memberCount: count('the number of its members'),
        featureCount: count('the number of its features that are not archived'),
      }),
      { description: 'the projects in which the caller has a permission; all for an administrator' },
    ),
    flags: Type.Array(
      Type.Object({
        name: Type.String({ description: 'the name of the feature' }),
        type: Type.String({ description: 'its type' }),
        project: Type.String({ description: 'its project' }),
      }),
      {
        description: 'at most 100 features that the caller created or that are favourites of the caller, newest first',
      },
    ),
    projectOwners: Type.Array(
      Type.Object({
        ownerType: Type.Enum(['user'], { type: 'string', description: '`user`' }),
        name: Type.String({ description: 'the name of the user' }),
        imageUrl: Type.Optional(Type.String({ description: 'a picture of the user' })),
        email: Type.Optional(Nullable(Type.String(), { description: 'the e-mail address of the user' })),
      }),
      { description: 'the owners of the projects that the caller may see, by name' },
    ),
    admins: Type.Array(
      Type.Object({
        id: Type.Integer({ description: 'the id of the user' }),
        name: Type.Optional(Type.String({ description: 'the name of the user' })),
        username: Type.Optional(Type.String({ description: 'the user name' })),
        email: Type.Optional(Type.String({ description: 'the e-mail address of the user' })),
        imageUrl: Type.Optional(Type.String({ description: 'a picture of the user' })),
      }),
      { description: 'the administrators, by name' },
    ),
  },
  { title: 'personalDashboardSchema', description: 'The dashboard of the caller.' },
);
export type PersonalDashboard = Static<typeof PersonalDashboard>;

const unknownHealth = Nullable(percent('the average share of features that were not stale'), {
  description: 'null: Bunting does not keep earlier figures',
});

/** One project of the caller's dashboard. */
export const PersonalDashboardProject = Type.Object(
  {
    insights: Type.Object({
      avgHealthCurrentWindow: unknownHealth,
      avgHealthPastWindow: unknownHealth,
      totalFlags: count('the number of features that are not archived'),
      activeFlags: count('the number of those that are neither stale nor potentially stale'),
      staleFlags: count('the number of those that are stale'),
      potentiallyStaleFlags: count('the number of those that are not stale, but older than the lifetime of their type'),
      health: percent('the share of features that are not stale, in percent'),
    }),
    onboardingStatus: OnboardingStatus,
    latestEvents: Type.Array(
      Type.Object({
        id: Type.Integer({ minimum: 1, description: 'the id of the event' }),
        summary: Nullable(Type.String(), { description: 'the summary of the event, in Markdown' }),
        createdBy: Type.String({ description: 'the user or token that caused it' }),
        createdByImageUrl: Type.String({ description: 'the picture of the user who caused it' }),
        createdAt: Timestamp('when it happened'),
      }),
      { description: 'the ten newest events of the project, newest first' },
    ),
    owners: Type.Array(ProjectOwner, { description: 'the owners: users, then groups, by name' }),
    roles: Type.Array(
      Type.Object({
        id: Type.Integer({ description: 'the id of the role' }),
        name: Type.String({ description: 'the name of the role' }),
        type: Type.Enum(['custom', 'project'], { type: 'string', description: 'the type of the role' }),
      }),
      { description: 'the roles of the caller in the project' },
    ),
  },
  { title: 'personalDashboardProjectDetailsSchema', description: 'One project of the dashboard of the caller.' },
);
export type PersonalDashboardProject = Static<typeof PersonalDashboardProject>;

/** One page of the users who created features. */
export const FlagCreatorPage = Type.Object(
  {
    flagCreators: Type.Array(
      Type.Object({
        id: Type.Integer({ description: 'the id of the user' }),
        name: Type.String({ description: 'the name of the user' }),
      }),
      { description: 'the people of this page, by name' },
    ),
    total: count('the number on all pages'),
  },
  { title: 'flagCreatorsSchema', description: 'One page of the users who created features.' },
);
export type FlagCreatorPage = Static<typeof FlagCreatorPage>;
