import { type Static, Type } from 'typebox';
import { ChangesBody } from '../changes/change.ts';
import { ChangeWithSnapshot } from '../changes/operations.ts';
import { operationsOf } from '../operation.ts';
import { ChangeRequestPath } from '../paths.ts';
import { AnyObject, Nullable } from '../schemas.ts';
import { ConstraintBody } from '../strategies/constraints.ts';
import { SegmentUsage } from '../strategies/segments.ts';
import {
  ChangeRequest,
  ChangeRequestPreview,
  ChangeRequests,
  ChangeRequestSearchPage,
  PendingChangeRequest,
  changeRequestStates,
} from './change-request.ts';

const defineOperation = operationsOf('Change Requests');

function share(description: string) {
  return Type.Number({ minimum: 0, maximum: 100, description });
}

/** Changes whose effect on users is to be computed. */
export const ImpactBody = Type.Object(
  {
    project: Type.String({ minLength: 1, maxLength: 100, description: 'the project of the changes' }),
    environment: Type.String({ minLength: 1, maxLength: 100, description: 'the environment of the changes' }),
    changes: Type.Optional(Type.Unsafe<unknown>({ type: ['object', 'array'], documentation: ChangesBody })),
    contexts: Type.Optional(
      Type.Array(AnyObject({ description: 'the context of a user, as the playground takes it' }), {
        maxItems: 20,
        description: 'example users, who are evaluated before and after',
      }),
    ),
    constraints: Type.Optional(
      Type.Array(ConstraintBody, {
        maxItems: 100,
        description: 'constraints that are evaluated for the example users, each by itself',
      }),
    ),
  },
  { title: 'changeImpactRequestSchema', description: 'Changes, and example users.' },
);

const ExampleResult = Type.Object(
  {
    isEnabled: Type.Boolean({ description: 'whether the feature is on for the user' }),
    variant: Type.String({ description: 'the name of the variant; `disabled` where there is none' }),
  },
  { description: 'the evaluation for the user' },
);

/** Users with the same values of the context fields that constraints compare. */
const UsersWithSameContext = Type.Object(
  {
    context: Type.Unsafe<Record<string, string>>(
      Type.Object(
        {},
        {
          additionalProperties: Type.String(),
          description: 'the values of the context fields that constraints compare; a field that is absent has no value',
        },
      ),
    ),
    before: share('the percentage of these users for whom the feature is on now'),
    after: share('the percentage for whom it would be on'),
    gains: share('the percentage for whom it would be turned on'),
    loses: share('the percentage for whom it would be turned off'),
    changesVariant: share('the percentage for whom it would stay on with another variant'),
  },
  { title: 'changeImpactGroupSchema', description: 'A group of users, with the effect of the changes on them.' },
);

export const FeatureImpact = Type.Object(
  {
    name: Type.String({ description: 'the name of the feature' }),
    dependsOn: Type.Optional(
      Type.Array(Type.String(), {
        description: 'of a feature that the changes affect only because it depends on others: which of these',
      }),
    ),
    isComplete: Type.Boolean({
      description:
        'false where a strategy of the feature, or of one that it depends on, is of a type that only the application can evaluate: it counts as off',
    }),
    groups: Type.Array(UsersWithSameContext, { description: 'groups of users; the first has none of the values' }),
    examples: Type.Array(Type.Object({ before: ExampleResult, after: ExampleResult }), {
      description: 'the example users, in the order of the request',
    }),
  },
  { title: 'changeImpactFeatureSchema', description: 'The effect of the changes on the users of a feature.' },
);
export type FeatureImpact = Static<typeof FeatureImpact>;

export const ImpactResult = Type.Object(
  {
    users: Type.Integer({ description: 'the number of generated users that each percentage refers to' }),
    features: Type.Array(FeatureImpact, {
      description:
        'the features that are changed or use a changed segment, by name, and then those that depend on them, up to 20 features in all and fewer where they differ for many groups',
    }),
    constraints: Type.Optional(
      Type.Array(
        Type.Object({
          matches: Type.Array(Type.Boolean(), {
            description: 'whether the constraint matches each of the example users, in the order of the request',
          }),
        }),
        { description: 'the constraints, in the order of the request; absent where that has none' },
      ),
    ),
  },
  { title: 'changeImpactSchema', description: 'The effect of changes on users.' },
);
export type ImpactResult = Static<typeof ImpactResult>;

export const CountActionable = defineOperation({
  subject: 'call.change-requests.count-actionable',
  operationId: 'getProjectActionableChangeRequests',
  summary: 'Count the change requests that the caller can act on',
  description: 'Returns the number of change requests of a project that the caller can approve or apply now.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/actionable' },
  permission: 'authenticated',
  reply: Type.Object(
    { total: Type.Integer({ description: 'the number of change requests that the caller can act on' }) },
    {
      title: 'actionableChangeRequestsSchema',
      description: 'The number of change requests that the caller can act on.',
    },
  ),
});

export const CountChangeRequests = defineOperation({
  subject: 'call.change-requests.count-change-requests',
  operationId: 'getProjectChangeRequestCount',
  summary: 'Count the change requests of a project',
  description: 'Returns the number of change requests of a project, by state, without drafts.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/count' },
  permission: 'authenticated',
  reply: Type.Object(
    {
      total: Type.Integer({ description: 'all but drafts' }),
      applied: Type.Integer({ description: 'those that were applied' }),
      approved: Type.Integer({ description: 'those that have enough approvals' }),
      rejected: Type.Integer({ description: 'those that were rejected' }),
      reviewRequired: Type.Integer({ description: 'those in review' }),
      scheduled: Type.Integer({ description: 'those that are scheduled' }),
    },
    { title: 'changeRequestCountSchema', description: 'The number of change requests, by state.' },
  ),
});

export const GetChangeRequest = defineOperation({
  subject: 'call.change-requests.get-change-request',
  summary: 'Get a change request',
  description: 'Returns a change request with its changes, conflicts and comments.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/:id' },
  permission: 'authenticated',
  params: ChangeRequestPath,
  reply: ChangeRequest,
});

export const ListChangeRequests = defineOperation({
  subject: 'call.change-requests.list-change-requests',
  operationId: 'getProjectChangeRequests',
  summary: 'List the change requests of a project',
  description:
    'Returns the change requests of a project, newest first and at most 300 of them. Drafts are shown to their authors alone.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests' },
  permission: 'authenticated',
  reply: ChangeRequests,
});

export const ListOpenChangeRequests = defineOperation({
  subject: 'call.change-requests.list-open-change-requests',
  operationId: 'getOpenChangeRequestsForUser',
  summary: "List the caller's open change requests",
  description: 'Deprecated name of the list of pending change requests.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/open' },
  permission: 'authenticated',
  reply: Type.Array(PendingChangeRequest, {
    title: 'changeRequestsSchema',
    description: 'The pending change requests.',
  }),
  deprecated: true,
});

export const ListPendingChangeRequests = defineOperation({
  subject: 'call.change-requests.list-pending-change-requests',
  operationId: 'getPendingChangeRequestsForUser',
  summary: "List the caller's pending change requests",
  description: "Returns the caller's pending change requests in the configured environments of the project.",
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/pending' },
  permission: 'authenticated',
  reply: Type.Array(PendingChangeRequest, {
    title: 'changeRequestsSchema',
    description: 'The pending change requests.',
  }),
});

export const ListPendingOfFeature = defineOperation({
  subject: 'call.change-requests.list-pending-of-feature',
  operationId: 'getPendingChangeRequestsForFeature',
  summary: 'List the pending change requests of a feature',
  description: 'Returns the pending change requests of all users that touch the feature.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/pending/:featureName' },
  permission: 'authenticated',
  reply: ChangeRequests,
});

function namesOfList(description: string) {
  return Type.Array(Type.String({ maxLength: 250 }), { maxItems: 300, description });
}

export const GetEditStatus = defineOperation({
  subject: 'call.change-requests.get-edit-status',
  operationId: 'getEditStatusOfFeatures',
  summary: 'Get where features are protected, and where changes of them wait',
  description:
    'Returns the protected environments of projects, and the environments in which change requests that are not closed change features. Drafts of others, and projects that the caller may not see, are left out.',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/search/change-requests/edit-status' },
  permission: 'authenticated',
  readsOnly: true,
  body: Type.Object(
    { projects: namesOfList('the ids of projects'), features: namesOfList('the names of features') },
    { title: 'editStatusRequestSchema', description: 'Projects and features.' },
  ),
  reply: Type.Object(
    {
      protectedEnvironments: Type.Array(
        Type.Object({
          project: Type.String({ description: 'the id of the project' }),
          environment: Type.String({ description: 'an environment in which edits need a change request' }),
        }),
        { description: 'of the projects' },
      ),
      waitingChanges: Type.Array(
        Type.Object({
          feature: Type.String({ description: 'the name of the feature' }),
          environment: Type.String({ description: 'the environment of a change request that changes it' }),
        }),
        { description: 'of the features, each environment once' },
      ),
    },
    { title: 'editStatusSchema', description: 'Where edits need a change request, and where changes wait.' },
  ),
});

export const CountOpenChangeRequests = defineOperation({
  subject: 'call.change-requests.count-open-change-requests',
  summary: 'Count the open change requests of all projects',
  description:
    'Returns how many change requests of each project are not closed. Drafts of others, and projects that the caller may not see or that have none, are left out.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/search/change-requests/open-counts' },
  permission: 'authenticated',
  reply: Type.Object(
    {
      projects: Type.Array(
        Type.Object({
          id: Type.String({ description: 'the id of the project' }),
          open: Type.Integer({ description: 'the number of its change requests that are not closed' }),
        }),
        { description: 'by id' },
      ),
    },
    { title: 'openChangeRequestCountsSchema', description: 'The numbers of open change requests of projects.' },
  ),
});

const StagedListName = Type.Object({
  segment: Type.Integer(),
  root: Type.String({ description: 'in hexadecimal digits' }),
});

/** Returns the strategies that would use a segment after open change requests are applied, within the projects that the caller may see. */
export const ListProposedSegmentStrategies = defineOperation({
  subject: 'call.change-requests.list-proposed-segment-strategies',
  summary: 'List the strategies that would use a segment after the change requests that are not closed',
  idempotent: true,
  body: Type.Object({ segment: Type.Integer() }),
  reply: Type.Object({ changeRequestStrategies: SegmentUsage.properties.changeRequestStrategies }),
  tag: 'Internal',
});

/** The most staged lists of one call of `FindNeededSegmentLists`. */
export const maxStagedListsPerCall = 100;

/** Returns those of some staged lists that open change requests name. */
export const FindNeededSegmentLists = defineOperation({
  subject: 'call.change-requests.find-needed-segment-lists',
  summary: 'Find the staged lists that change requests that are not closed name',
  idempotent: true,
  readsOnly: true,
  body: Type.Object({ lists: Type.Array(StagedListName, { maxItems: maxStagedListsPerCall }) }),
  reply: Type.Object({ lists: Type.Array(StagedListName) }),
  tag: 'Internal',
});

function names(description: string) {
  return Type.Optional(Type.Array(Type.String(), { maxItems: 300, description }));
}

/** Lists the scheduled change requests that touch any of some objects, as a warning before those are edited directly. */
export const ListScheduled = defineOperation({
  subject: 'call.change-requests.list-scheduled',
  operationId: 'getScheduledChangeRequests',
  summary: 'List the scheduled change requests that touch given objects',
  description:
    'Returns the scheduled change requests that touch any of the given features, strategies or variants; none if none is given.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/scheduled' },
  permission: 'authenticated',
  query: Type.Object({
    feature: names('names of features: whatever is planned for them'),
    strategyId: names('ids of strategies that are to be changed, moved or deleted'),
    variantForFlag: names('names of features whose variants are to be replaced'),
  }),
  reply: Type.Array(
    Type.Object({
      id: Type.Number({ description: 'the id of the change request' }),
      environment: Type.String({ description: 'the environment where it will be applied' }),
      title: Type.Optional(Type.String({ description: 'the title, if it has one' })),
    }),
    { title: 'scheduledChangeRequestsSchema', description: 'Scheduled change requests, by id.' },
  ),
  errors: ['ValidationError', 'NotFoundError'],
});

export const PreviewChangeRequest = defineOperation({
  subject: 'call.change-requests.preview-change-request',
  summary: 'Preview a change request',
  description: 'Previews the effect of applying the change request, by the functions that apply it.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/:id/preview' },
  permission: 'authenticated',
  params: ChangeRequestPath,
  reply: ChangeRequestPreview,
});

/** Returns the changes of an open change request that the caller may see. */
export const ReadProposedChanges = defineOperation({
  subject: 'call.change-requests.read-proposed-changes',
  summary: 'Get the changes of a change request',
  idempotent: true,
  body: Type.Object({ id: Type.Integer() }),
  reply: Type.Object({
    project: Type.String(),
    environment: Type.String(),
    changes: Type.Array(ChangeWithSnapshot),
  }),
  errors: ['NotFoundError', 'ValidationError'],
  tag: 'Internal',
});

/**
 * Lists the people whom a change request concerns, for the service that tells them. With `withReviewers`, `reviewers` are the requested ones, or
 * else, while it is in review, up to 50 who may approve it: those with a role in the project if there are any. The author is none of them.
 */
export const GetPeopleOfChangeRequest = defineOperation({
  subject: 'call.change-requests.get-people-of-change-request',
  summary: 'List the people whom a change request concerns',
  idempotent: true,
  body: Type.Object({
    id: Type.Integer(),
    withReviewers: Type.Optional(
      Type.Boolean({ description: 'whether to look for `reviewers`, who are many to judge' }),
    ),
  }),
  reply: Type.Object({
    uid: Nullable(Type.String(), { description: 'unlike the id, never given again; null for one of an older version' }),
    title: Type.String({ description: 'empty for one without a title' }),
    state: Type.Enum([...changeRequestStates], { type: 'string' }),
    author: Type.Integer(),
    reviewers: Type.Array(Type.Integer()),
    participants: Type.Array(Type.Integer(), { description: 'who has approved, rejected or commented' }),
  }),
  errors: ['NotFoundError'],
  tag: 'Internal',
});

const described = Type.String({ description: 'in words, as the console shows it' });

/** Describes a change request and its present effect, for the service that shows it outside of the console. */
export const DescribeChangeRequest = defineOperation({
  subject: 'call.change-requests.describe-change-request',
  summary: 'Describe a change request and its effect in words',
  idempotent: true,
  body: Type.Object({
    id: Type.Integer(),
    maxChanges: Type.Integer({ minimum: 1, maximum: 100, description: 'how many changes are described' }),
  }),
  reply: Type.Object({
    uid: Nullable(Type.String(), { description: 'unlike the id, never given again; null for one of an older version' }),
    title: Type.String(),
    project: Type.String(),
    environment: Type.String(),
    state: Type.Enum([...changeRequestStates], { type: 'string' }),
    author: Type.String({ description: 'the name of the author; empty for a deleted user' }),
    revision: Type.Integer({ description: 'the revision of the content, which a review may name' }),
    basis: Nullable(Type.String(), {
      description:
        'the basis of the effect, which an approval may name; null for changes in conflict, and once it is closed',
    }),
    approvals: Type.Integer(),
    minApprovals: Type.Integer(),
    scheduledAt: Nullable(Type.String()),
    changes: Type.Array(
      Type.Object({
        subject: Type.String({ description: 'the name of the feature or the segment' }),
        sentence: described,
        before: Type.Optional(described),
        after: Type.Optional(described),
        warning: Type.Optional(Type.String({ description: 'why it cannot be applied now, or what it overwrites' })),
      }),
      { description: 'by feature and by segment; none of a draft, which is its author’s alone' },
    ),
    changeCount: Type.Integer({ description: 'how many changes there are in all' }),
    isComplete: Type.Boolean({
      description:
        'whether the words of the described changes say everything that these do: what is not certain does not',
    }),
  }),
  errors: ['NotFoundError'],
  tag: 'Internal',
});

function filter(description: string, documentedPattern: string) {
  return Type.Optional(Type.String({ description, documentedPattern }));
}

export const SearchChangeRequests = defineOperation({
  subject: 'call.change-requests.search-change-requests',
  summary: 'Search change requests in all projects',
  description:
    'Returns the change requests that match every one of the criteria, newest first, page by page. Drafts are shown to their authors alone.',
  http: { method: 'GET', url: '/api/admin/search/change-requests' },
  permission: 'authenticated',
  query: Type.Object({
    project: filter('where they are: `IS:` and the id of a project', '^IS:.+$'),
    createdBy: filter('who proposed them: `IS:` and the id of a user', '^IS:[0-9]+$'),
    requestedApproverId: filter('whose approval is asked for: `IS:` and the id of a user', '^IS:[0-9]+$'),
    reviewable: Type.Optional(
      Type.Boolean({
        description: 'true for those in review that the caller has not proposed, may approve, and has not approved yet',
      }),
    ),
    state: filter(
      '`IS:open` for those that can still be applied, `IS:scheduled` for those of them that have a schedule, `IS:closed` for the others',
      '^IS:(open|closed|scheduled)$',
    ),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        default: 0,
        description: 'the number of change requests to skip',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: 50,
        description: 'the maximum number of change requests on a page',
      }),
    ),
  }),
  reply: ChangeRequestSearchPage,
  errors: ['ValidationError'],
});
