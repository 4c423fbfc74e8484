import { type Static, Type } from 'typebox';
import { Count, Nullable, Percent } from '../schema.ts';

const stage = (which: string) =>
  Type.Object({
    averageDays: Nullable(Type.Number(), {
      description: `the average number of days that features have spent ${which}, until now for those that are still in it; null if none was`,
    }),
    currentFlags: Count(`the number of features that are ${which}`),
  });

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
  },
  { title: 'projectStatusSchema', description: 'The state of a project.' },
);
export type ProjectStatus = Static<typeof ProjectStatus>;
