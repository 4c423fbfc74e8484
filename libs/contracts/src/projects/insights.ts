import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { Count, Nullable, Percent } from '../schemas.ts';
import { FeatureTypeCounts, ProjectHealth, ProjectOverview, ProjectStats } from './overview.ts';

const defineOperation = operationsOf('Projects');

/**
 * The lead times of a project: how long its features took from their creation until they were first enabled in production. Unleash names
 * the schema after DORA (DevOps Research and Assessment), of whose metrics it has only this one.
 */
export const ProjectLeadTimes = Type.Object(
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

export const ProjectInsights = Type.Object(
  {
    stats: ProjectStats,
    featureTypeCounts: FeatureTypeCounts,
    health: Type.Object({
      rating: Percent('the share of features that are not stale, in percent'),
      activeCount: Count('the number of features that are not stale'),
      potentiallyStaleCount: Count('the number of features that are not stale, but older than their type expects'),
      staleCount: Count('the number of stale features'),
    }),
    leadTime: ProjectLeadTimes,
    members: Type.Object({
      currentMembers: Count('the number of members'),
      change: Type.Integer({ description: 'the number of those added in the last 30 days' }),
    }),
  },
  { title: 'projectInsightsSchema', description: 'Figures of a project.' },
);

function stage(which: string) {
  return Type.Object({
    averageDays: Nullable(Type.Number(), {
      description: `the average number of days that features have spent ${which}, until now for those that are still in it; null if none was`,
    }),
    currentFlags: Count(`the number of features that are ${which}`),
  });
}

/** The resources of a project, its activity by day, its health and its features by lifecycle stage. */
export const ProjectStatus = Type.Object(
  {
    activityCountByDate: Type.Array(
      Type.Object({
        date: Type.String({ description: 'a day of UTC, such as 2026-11-22' }),
        count: Count('the number of events of the project on that day'),
      }),
      { title: 'projectActivitySchema', description: 'the days of the last year with events, oldest first' },
    ),
    health: Type.Object({ current: Percent('the share of features that are not stale, in percent') }),
    technicalDebt: Type.Object({ current: Percent('the share of features that are stale, in percent') }),
    resources: Type.Object({
      apiTokens: Count('the number of API tokens that give the project'),
      members: Count('the number of members'),
      segments: Count('the number of segments of the project alone'),
    }),
    staleFlags: Type.Object({ total: Count('the number of stale features') }),
    lifecycleSummary: Type.Object({
      initial: stage('not used yet'),
      preLive: stage('used, and not in production'),
      live: stage('used in production'),
      completed: stage('completed'),
      archived: Type.Object({
        currentFlags: Count('the number of archived features'),
        last30Days: Count('the number of those archived in the last 30 days'),
      }),
    }),
    timeToProduction: Type.Optional(
      Type.Array(
        Type.Object({
          month: Type.String({ description: 'a month of UTC, such as 2026-11' }),
          features: Count('the number of features that were first enabled in production in that month'),
          medianDays: Nullable(Type.Number(), {
            description: 'the median of the days from their creation until then; null without such features',
          }),
        }),
        { description: 'the last twelve months, the current one included, oldest first; archived features count' },
      ),
    ),
  },
  { title: 'projectStatusSchema', description: 'The state of a project.' },
);
export type ProjectStatus = Static<typeof ProjectStatus>;

export const GetProjectDora = defineOperation({
  subject: 'call.features.get-project-dora',
  summary: 'Get the lead times of the features of a project',
  description: 'Returns the times that the features of a project took until they were first enabled in production.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/dora' },
  permission: 'authenticated',
  reply: ProjectLeadTimes,
  errors: [],
});

export const GetProjectHealth = defineOperation({
  subject: 'call.features.get-project-health',
  operationId: 'getProjectHealthReport',
  summary: 'Get the health of a project',
  description:
    'Returns a project with its features, and the number of those that are stale or older than the lifetime of their type.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/health-report' },
  isHeavy: true,
  permission: 'authenticated',
  reply: ProjectHealth,
});

export const GetProjectInsights = defineOperation({
  subject: 'call.features.get-project-insights',
  summary: 'Get the insights of a project',
  description: 'Returns the activity, the health and the lead times of a project.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/insights' },
  isHeavy: true,
  permission: 'authenticated',
  reply: ProjectInsights,
});

export const GetProjectOverview = defineOperation({
  subject: 'call.features.get-project-overview',
  summary: 'Get a project',
  description: 'Returns a project, its settings, its environments and its counts.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/overview' },
  permission: 'authenticated',
  reply: ProjectOverview,
});

export const GetProjectStatus = defineOperation({
  subject: 'call.features.get-project-status',
  summary: 'Get the status of a project',
  description: 'Returns the resources of a project, its activity, and the lifecycle stages of its features.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/status' },
  isHeavy: true,
  permission: 'authenticated',
  reply: ProjectStatus,
});
