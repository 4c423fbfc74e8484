import { type Static, Type } from 'typebox';
import { defineOperation } from '../operation.ts';
import { Nullable, Timestamp } from '../schemas.ts';

/** Why a feature may be no longer needed. */
export const cleanupReasons = ['stale', 'potentiallyStale', 'allOn', 'allOff', 'notSeen', 'neverSeen'] as const;

export type CleanupReason = (typeof cleanupReasons)[number];

const reason = Type.Enum([...cleanupReasons], {
  type: 'string',
  description:
    '`stale`: marked as stale · `potentiallyStale`: older than the lifetime of its type · `allOn`: on for all users in production, and no application there has reported `no`, for so many days · `allOff`: off in every environment, and no application has reported `yes`, for so many days · `notSeen`: not reported by any application for so many days · `neverSeen`: created so many days ago, and never reported',
});

const scope = {
  project: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'only features of this project' })),
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 3650, description: 'the days of the reasons that have some; default: 30' }),
  ),
};

export const CleanupCountsQuery = Type.Object(scope);
export type CleanupCountsQuery = Static<typeof CleanupCountsQuery>;

export const CleanupQuery = Type.Object({
  ...scope,
  reason: Type.Optional(reason),
  query: Type.Optional(Type.String({ maxLength: 100, description: 'text to find in the name, in any case' })),
  after: Type.Optional(Type.String({ maxLength: 100, description: 'the `next` of the page before' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: 'the number of features on a page; default: 100' }),
  ),
});
export type CleanupQuery = Static<typeof CleanupQuery>;

function count(what: string) {
  return Type.Integer({ minimum: 0, description: `the number of features that are ${what}` });
}

export const CleanupCounts = Type.Object(
  {
    all: count('unneeded for any reason'),
    stale: count('marked as stale'),
    potentiallyStale: count('older than the lifetime of their type'),
    allOn: count('on for all users'),
    allOff: count('off for all users'),
    notSeen: count('not reported any more'),
    neverSeen: count('never reported'),
  },
  { title: 'cleanupCountsSchema', description: 'The number of features that may be no longer needed, by reason.' },
);

export const CleanupFeatures = Type.Object(
  {
    features: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'the name of the feature' }),
          project: Type.String({ description: 'its project' }),
          type: Type.String({ description: 'its type' }),
          description: Nullable(Type.String(), { description: 'its description' }),
          createdAt: Timestamp('when it was created'),
          createdBy: Type.String({ description: 'the creator' }),
          reasons: Type.Array(reason, { description: 'the reasons why it may be no longer needed' }),
          environments: Type.Array(
            Type.Object({
              name: Type.String({ description: 'the environment' }),
              enabled: Type.Boolean({ description: 'whether it is enabled there' }),
              lastSeenAt: Nullable(Timestamp('when an application last reported it'), {
                description: 'when an application last reported it; null if none has',
              }),
            }),
            { description: 'the environments of its project, in their order' },
          ),
          neededBy: Type.Array(Type.String(), {
            description: 'active features that depend on it, by name: at most 100',
          }),
        },
        { title: 'cleanupFeatureSchema', description: 'A feature that may be no longer needed, and why.' },
      ),
      { description: 'the features of the page, by name' },
    ),
    next: Nullable(Type.String(), { description: 'the `after` of the next page; null at the end' }),
  },
  { title: 'cleanupFeaturesSchema', description: 'Features that may be no longer needed.' },
);
export type CleanupFeatures = Static<typeof CleanupFeatures>;

export const UnknownFlagsQuery = Type.Object({
  project: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'only the reports of applications whose keys are for this project, or for all',
    }),
  ),
});
export type UnknownFlagsQuery = Static<typeof UnknownFlagsQuery>;

export const UnknownFlags = Type.Object(
  {
    unknownFlags: Type.Array(
      Type.Object({
        name: Type.String({ description: 'the name that applications evaluate' }),
        lastSeenAt: Timestamp('when an application last reported it'),
        archivedIn: Nullable(Type.String(), {
          description: 'the project whose archive has a feature of this name; null if none has',
        }),
        reports: Type.Array(
          Type.Object({
            appName: Type.String({ description: 'the application' }),
            environments: Type.Array(
              Type.Object({
                environment: Type.String({ description: 'the environment' }),
                seenAt: Timestamp('when it last reported it there'),
              }),
              { description: 'where it reported it' },
            ),
          }),
          { description: 'the applications, by name, of the latest 100 reports' },
        ),
      }),
      { description: 'the latest first: at most 1,000, of the latest 20,000 reports' },
    ),
  },
  {
    title: 'unknownFlagsResponseSchema',
    description: 'Names that applications have evaluated in the last two days and that no active feature has.',
  },
);
export type UnknownFlags = Static<typeof UnknownFlags>;

export const CountCleanupFeatures = defineOperation({
  subject: 'call.features.count-cleanup-features',
  operationId: 'getCleanupCounts',
  summary: 'Count features that may be no longer needed',
  description:
    'Returns the number of active features that may be no longer needed, by reason. A feature can have several.',
  tag: 'Archive',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/cleanup/counts' },
  isHeavy: true,
  permission: 'authenticated',
  query: CleanupCountsQuery,
  reply: CleanupCounts,
  errors: ['ValidationError'],
});

export const ListCleanupFeatures = defineOperation({
  subject: 'call.features.list-cleanup-features',
  operationId: 'getCleanupFeatures',
  summary: 'List features that may be no longer needed',
  description:
    'Returns a page of the active features that may be no longer needed, with the reasons, their last use, and the features that depend on them.',
  tag: 'Archive',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/cleanup/features' },
  isHeavy: true,
  permission: 'authenticated',
  query: CleanupQuery,
  reply: CleanupFeatures,
  errors: ['ValidationError'],
});

export const ListUnknownFlags = defineOperation({
  subject: 'call.features.list-unknown-flags',
  operationId: 'getUnknownFlags',
  summary: 'List the unknown flags that applications evaluate',
  description:
    'Returns the names that applications have evaluated in the last two days and that no active feature of their projects has.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/metrics/unknown-flags' },
  isHeavy: true,
  permission: 'authenticated',
  query: UnknownFlagsQuery,
  reply: UnknownFlags,
});
