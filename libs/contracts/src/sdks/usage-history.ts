import { type Static, Type } from 'typebox';
import { defineOperation } from '../operation.ts';
import { Timestamp } from '../schemas.ts';

/** How far back the history of usage goes, and the time for which each of its counts stands. */
export const usageRanges = {
  '1h': { hours: 1, unit: 'minute' },
  '24h': { hours: 24, unit: 'hour' },
  '7d': { hours: 7 * 24, unit: 'hour' },
  '30d': { hours: 30 * 24, unit: 'day' },
  '400d': { hours: 400 * 24, unit: 'day' },
} as const;
export type UsageRange = keyof typeof usageRanges;

const counts = {
  yes: Type.Integer({ description: 'evaluations to true' }),
  no: Type.Integer({ description: 'evaluations to false' }),
};

export const UsageHistory = Type.Object(
  {
    featureName: Type.String({ description: 'the feature' }),
    range: Type.Enum(Object.keys(usageRanges) as UsageRange[], { description: 'how far back it goes' }),
    from: Timestamp('where the range begins'),
    unit: Type.Enum(['minute', 'hour', 'day'], { description: 'the time that each bucket covers' }),
    environments: Type.Array(
      Type.Object({
        environment: Type.String({ description: 'the environment' }),
        buckets: Type.Array(
          Type.Object({
            at: Timestamp('the start of the minute, hour or day'),
            ...counts,
            variants: Type.Unsafe<Readonly<Record<string, number>>>({
              type: 'object',
              additionalProperties: { type: 'integer' },
              description: 'evaluations to each variant; empty by minute',
            }),
          }),
          { description: 'the times in which it was evaluated there, the oldest first' },
        ),
      }),
      { description: 'the environments in which it was evaluated' },
    ),
    applications: Type.Array(
      Type.Object({
        appName: Type.String({ description: 'the application' }),
        environment: Type.String({ description: 'the environment' }),
        ...counts,
      }),
      { description: 'the applications that evaluated it, those with the most evaluations first: at most 100' },
    ),
  },
  { title: 'featureUsageHistorySchema', description: 'How often a feature was evaluated, over time.' },
);
export type UsageHistory = Static<typeof UsageHistory>;

export const GetUsageHistory = defineOperation({
  subject: 'call.features.get-usage-history',
  operationId: 'getFeatureUsageHistory',
  summary: 'Get the usage of a feature over time',
  description:
    'Returns the evaluations of the last hour by minute, of the last day or week by hour, or of the last 30 or 400 days by day. Sums by hour are kept for 30 days, those by day and application for 400.',
  tag: 'Metrics',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/client-metrics/features/:featureName/history' },
  permission: 'authenticated',
  query: Type.Object({
    range: Type.Optional(
      Type.Enum(Object.keys(usageRanges) as UsageRange[], {
        description: 'how far back: an hour, a day, or so many days; default: `24h`',
      }),
    ),
    timeZone: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          'the time zone in which the 30 days begin, such as `Europe/Oslo`; default: UTC, which is always the zone of the 400',
      }),
    ),
  }),
  reply: UsageHistory,
  errors: ['ValidationError', 'NotFoundError'],
});

/** The number of days of the recent usage of features, the current one included. */
export const recentUsageDays = 7;

function countsByDay(description: string) {
  return Type.Array(Type.Integer(), { description: `${description}, by day, the oldest first` });
}

export const RecentUsage = Type.Object(
  {
    from: Timestamp('where the first day begins, in UTC'),
    features: Type.Array(
      Type.Object({
        name: Type.String({ description: 'the feature' }),
        environments: Type.Array(
          Type.Object({
            environment: Type.String({ description: 'the environment' }),
            yes: countsByDay('evaluations to true'),
            no: countsByDay('evaluations to false'),
          }),
          { description: 'the environments in which it was evaluated' },
        ),
      }),
      { description: 'the features that were evaluated, by name' },
    ),
  },
  { title: 'recentFeatureUsageSchema', description: 'How often features were evaluated on each of the last days.' },
);

export const GetRecentUsage = defineOperation({
  subject: 'call.features.get-recent-usage',
  operationId: 'getRecentFeatureUsage',
  summary: 'Get the usage of features in the last days',
  description: `Returns the evaluations of features on each of the last ${recentUsageDays} days of UTC, the current one included, by environment. Features that were not evaluated, do not exist or are hidden from the caller are left out.`,
  tag: 'Metrics',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/client-metrics/features/recent' },
  permission: 'authenticated',
  readsOnly: true,
  body: Type.Object(
    {
      features: Type.Array(Type.String({ maxLength: 250 }), { maxItems: 300, description: 'the names of features' }),
    },
    { title: 'recentFeatureUsageRequestSchema', description: 'Features.' },
  ),
  reply: RecentUsage,
});
