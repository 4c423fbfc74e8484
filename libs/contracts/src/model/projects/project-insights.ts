import { type Static, Type } from 'typebox';
import { Count, Percent } from '../schema.ts';
import { FeatureTypeCounts } from './feature-type-counts.ts';
import { ProjectStats } from './project-stats.ts';

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
export type ProjectLeadTimes = Static<typeof ProjectLeadTimes>;

/** Figures of a project. */
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
export type ProjectInsights = Static<typeof ProjectInsights>;
