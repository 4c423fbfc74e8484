import { type Static, Type } from 'typebox';
import type { ConflictCode } from '../changes/conflicts.ts';
import { AnyObject, Nullable, TextByKey, Timestamp } from '../schemas.ts';

/** The states of a change request. */
export const changeRequestStates = [
  'Draft',
  'In review',
  'Approved',
  'Applied',
  'Cancelled',
  'Rejected',
  'Scheduled',
] as const;
export type ChangeRequestState = (typeof changeRequestStates)[number];

const closedStates: ReadonlySet<ChangeRequestState> = new Set(['Applied', 'Cancelled', 'Rejected']);

/** Whether the state is final. */
export function isClosedState(state: ChangeRequestState): boolean {
  return closedStates.has(state);
}

const imageUrl = Type.String({ format: 'uri', description: "the address of the user's picture" });

/** The user who made a proposal; a deleted user has no name and no picture. */
export const Author = Type.Object(
  {
    id: Type.Optional(Type.Number({ description: 'the id of the user' })),
    username: Type.Optional(Nullable(Type.String(), { description: 'the name of the user' })),
    imageUrl: Type.Optional(Nullable(imageUrl)),
  },
  { description: 'The author; a deleted user has no name and no picture.' },
);
export type Author = Static<typeof Author>;

/** A property that was edited after the change was proposed, so that applying the change would overwrite the edit. */
export const ChangeRequestOverwrite = Type.Object(
  {
    property: Type.String({ description: 'the overwritten property' }),
    snapshot: Type.Unknown({ description: 'its value when the change was proposed' }),
    current: Type.Unknown({ description: 'its current value' }),
    proposed: Type.Unknown({ description: 'its value after applying' }),
  },
  {
    title: 'changeRequestOverwriteSchema',
    description: 'A property that was edited after the change was proposed.',
  },
);
export type ChangeRequestOverwrite = Static<typeof ChangeRequestOverwrite>;

const conflictCode = Type.Optional(
  Type.Unsafe<ConflictCode>({
    type: 'string',
    description: 'the kind of the conflict, for programs; only when in conflict',
  }),
);

const scheduleConflicts = Type.Optional(
  Type.Object(
    {
      changeRequests: Type.Array(
        Type.Object({
          id: Type.Number({ description: 'the id of the change request' }),
          title: Type.Optional(Type.String({ description: 'the title, if it has one' })),
        }),
        { description: 'scheduled change requests' },
      ),
    },
    { description: 'scheduled change requests that applying this change would break; only when there are some' },
  ),
);

export const ChangeRequestChange = Type.Object(
  {
    id: Type.Number({ description: 'the id of the change' }),
    action: Type.String({ description: 'the action' }),
    conflict: Type.Optional(
      Type.String({ description: 'the reason why the change cannot be applied now; only when in conflict' }),
    ),
    conflictCode,
    overwrites: Type.Optional(
      Type.Array(ChangeRequestOverwrite, {
        description: 'newer edits that applying would undo; only when there are some',
      }),
    ),
    scheduleConflicts,
    payload: Type.Unsafe<unknown>({
      anyOf: [
        { type: 'string' },
        { type: 'boolean' },
        { type: 'number' },
        { type: 'object', additionalProperties: true },
        {
          type: 'array',
          items: {
            type: 'object',
            required: ['id', 'sortOrder'],
            properties: { id: { type: 'string' }, sortOrder: { type: 'number' } },
          },
        },
      ],
      description: 'the data for the action; `{}` for an action without any',
    }),
    createdBy: Type.Optional(Author),
    createdAt: Type.Optional(Timestamp('when the change was added')),
  },
  { title: 'changeRequestChangeSchema', description: 'One change of a change request.' },
);
export type ChangeRequestChange = Static<typeof ChangeRequestChange>;

/** A change that is added when a change request is applied, so that the feature does not end up in an invalid state. */
export const ChangeRequestDefaultChange = Type.Object(
  {
    action: Type.String({ description: 'the action' }),
    payload: AnyObject({ description: 'the data for the action' }),
  },
  {
    title: 'changeRequestDefaultChangeSchema',
    description:
      'A change that applying adds in the background to avoid an invalid state; not a real part of the request.',
  },
);

export const ChangeRequestFeature = Type.Object(
  {
    name: Type.String({ description: 'the name of the feature' }),
    conflict: Type.Optional(
      Type.String({ description: 'the reason why nothing can be applied to this feature now; only when in conflict' }),
    ),
    conflictCode,
    changes: Type.Array(ChangeRequestChange, { description: 'the changes; lists may leave them out' }),
    defaultChange: Type.Optional(ChangeRequestDefaultChange),
  },
  { title: 'changeRequestFeatureSchema', description: 'The changes of a change request to one feature.' },
);
export type ChangeRequestFeature = Static<typeof ChangeRequestFeature>;

export const ChangeRequestSegment = Type.Object(
  {
    id: Type.Number({ description: 'the id of the segment' }),
    name: Type.String({ description: 'the current name of the segment' }),
    changes: Type.Array(ChangeRequestChange, { description: 'the changes; lists may leave them out' }),
  },
  { title: 'changeRequestSegmentSchema', description: 'The changes of a change request to one segment.' },
);
export type ChangeRequestSegment = Static<typeof ChangeRequestSegment>;

export const ChangeRequestApproval = Type.Object(
  {
    createdBy: Type.Object(
      {
        id: Type.Optional(Type.Number({ description: 'the id of the user' })),
        username: Type.Optional(Type.String({ description: 'the name of the user' })),
        imageUrl: Type.Optional(imageUrl),
      },
      { description: 'the reviewer' },
    ),
    createdAt: Timestamp('when it was decided'),
  },
  { title: 'changeRequestApprovalSchema', description: 'An approval or a rejection.' },
);
export type ChangeRequestApproval = Static<typeof ChangeRequestApproval>;

export const ChangeRequestComment = Type.Object(
  {
    id: Type.Optional(Type.Number({ description: 'the id, unique within the change request' })),
    text: Type.String({ description: 'the comment' }),
    createdBy: Type.Object(Author.properties, { description: 'the author' }),
    createdAt: Timestamp('when it was written'),
    change: Type.Optional(
      Type.Object(
        {
          id: Type.Number({ description: 'the id of the change' }),
          action: Type.String({ description: 'the action' }),
          feature: Type.Optional(Type.String({ description: 'the feature that it changes' })),
          segment: Type.Optional(Type.String({ description: 'the name of the segment that it changes' })),
        },
        {
          description:
            'the change that it is about, as it was then: it may have been discarded since; absent for a comment on the whole change request',
        },
      ),
    ),
  },
  { title: 'changeRequestCommentSchema', description: 'A comment.' },
);
export type ChangeRequestComment = Static<typeof ChangeRequestComment>;

/** The time at which a scheduled change request is applied, or why it is not. */
export const ChangeRequestSchedule = Type.Union(
  [
    Type.Object(
      { status: Type.Literal('pending'), scheduledAt: Timestamp('when it will be applied') },
      { title: 'changeRequestSchedulePendingSchema' },
    ),
    Type.Object(
      {
        status: Type.Literal('failed'),
        scheduledAt: Timestamp('when it was last attempted'),
        reason: Type.String({ description: 'the reason of the failure' }),
        failureReason: Type.Optional(
          Nullable(Type.String(), { deprecated: true, description: 'deprecated; use `reason`' }),
        ),
      },
      { title: 'changeRequestScheduleFailedSchema' },
    ),
    Type.Object(
      {
        status: Type.Literal('suspended'),
        scheduledAt: Timestamp('when it would have been applied'),
        reason: Type.String({ description: 'the reason of the suspension' }),
      },
      { title: 'changeRequestScheduleSuspendedSchema' },
    ),
  ],
  { description: 'The schedule, or why it failed or is suspended; present exactly when the state is Scheduled.' },
);
export type ChangeRequestSchedule = Static<typeof ChangeRequestSchedule>;

const users = (description: string) => Type.Array(Type.Integer(), { description });

const ChangeRequestReviewRequest = Type.Object(
  {
    createdBy: Author,
    createdAt: Timestamp('when they were asked'),
    requested: users('ids of the users whose review was asked for'),
    withdrawn: users('ids of the users whose review was asked for no longer'),
  },
  { description: 'That the author asked users for their reviews, and others no longer.' },
);

const ChangeRequestStep = Type.Object(
  {
    state: Type.Enum([...changeRequestStates], { type: 'string', description: 'the state' }),
    createdBy: Type.Optional(
      Type.Object(Author.properties, {
        description: 'the user who took the step, or who had scheduled it; absent for what Bunting did by itself',
      }),
    ),
    createdAt: Timestamp('when'),
    schedule: Type.Optional(ChangeRequestSchedule),
    scheduled: Type.Optional(
      Type.Boolean({ description: 'of `Applied`: whether it was applied because its time had come' }),
    ),
  },
  { description: 'That it came into a state, got another schedule, or lost approvals while it is in review.' },
);

const affectedEnvironments = Type.Optional(
  Type.Array(Type.String(), {
    description:
      'the protected environments that the changes affect: it needs the highest number of approvals that they ask for, of users who may approve in all of them; absent once it is closed',
  }),
);

const members = {
  id: Type.Number({ description: 'the id of the change request' }),
  title: Type.Optional(Type.String({ description: 'the title' })),
  environment: Type.String({ description: 'the environment where the changes are applied' }),
  project: Type.String({ description: 'the id of the project' }),
  features: Type.Array(ChangeRequestFeature, { description: 'the changes, by feature' }),
  segments: Type.Array(ChangeRequestSegment, { description: 'the changes, by segment' }),
  createdBy: Author,
  createdAt: Timestamp('when it was created'),
  state: Type.Enum([...changeRequestStates], { type: 'string', description: 'the state' }),
  schedule: Type.Optional(ChangeRequestSchedule),
  affectedEnvironments,
  revision: Type.Optional(Type.Integer({ description: 'the revision; incremented by each change of the content' })),
  stateTimestamps: Type.Optional(TextByKey({ description: 'when each state was last entered' })),
  reviewRequests: Type.Optional(
    Type.Array(ChangeRequestReviewRequest, {
      description:
        'the last hundred times that its author asked for reviews, oldest first; absent if that has not happened',
    }),
  ),
  steps: Type.Optional(
    Type.Array(ChangeRequestStep, {
      description:
        'the last hundred steps that led to its state, oldest first; absent of a draft, and those from before they were stored',
    }),
  ),
} as const;

const scheduledHasSchedule = {
  if: { properties: { state: { const: 'Scheduled' } }, required: ['state'] },
  then: { required: ['schedule'] },
} as const;

const minApprovals = { description: 'the number of approvals that it needs now, or needed when it was closed' };
const approvals = { description: 'the approvals, oldest first' };
const rejections = { description: 'the rejections, oldest first' };
const comments = { description: 'the comments, oldest first' };

export const ChangeRequest = Type.Object(
  {
    ...members,
    minApprovals: Type.Number(minApprovals),
    approvals: Type.Optional(Type.Array(ChangeRequestApproval, approvals)),
    rejections: Type.Optional(Type.Array(ChangeRequestApproval, rejections)),
    comments: Type.Optional(Type.Array(ChangeRequestComment, comments)),
  },
  {
    title: 'changeRequestSchema',
    description: 'A set of changes that is reviewed and applied as one.',
    ...scheduledHasSchedule,
  },
);
export type ChangeRequest = Static<typeof ChangeRequest>;

export const PendingChangeRequest = Type.Object(
  {
    ...members,
    minApprovals: Type.Optional(Type.Number({ ...minApprovals, deprecated: true })),
    approvals: Type.Optional(Type.Array(ChangeRequestApproval, { ...approvals, deprecated: true })),
    rejections: Type.Optional(Type.Array(ChangeRequestApproval, { ...rejections, deprecated: true })),
    comments: Type.Optional(Type.Array(ChangeRequestComment, { ...comments, deprecated: true })),
  },
  {
    title: 'pendingChangeRequestSchema',
    description: 'A change request in the list of pending ones.',
    ...scheduledHasSchedule,
  },
);
export type PendingChangeRequest = Static<typeof PendingChangeRequest>;

/** Change requests of a project, each with the properties that it has when it is read alone. */
export const ChangeRequests = Type.Array(ChangeRequest, {
  title: 'projectChangeRequestsSchema',
  description: 'Change requests of a project.',
});

/** The maximum number of characters of a comment. */
export const maxCommentLength = 1_000;

const stateComment = Type.Optional(
  Type.String({ maxLength: maxCommentLength, description: 'a comment on it, which is stored' }),
);

/** The target state of a change request, with the optional properties of all transitions. */
export const ChangeRequestStateBody = Type.Object(
  {
    state: Type.Enum([...changeRequestStates], { type: 'string', description: 'the target state' }),
    comment: stateComment,
    scheduledAt: Type.Optional(Timestamp('with `Scheduled`: when to apply it')),
    revision: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'the revision that the caller has seen; the request is refused if the content has changed since',
      }),
    ),
    basis: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          'with `Approved`: the basis of the preview that the caller has seen; the approval is refused if the effect is another one now',
      }),
    ),
  },
  { title: 'changeRequestUpdateStateSchema', description: 'The state to move a change request to.' },
);
export type ChangeRequestStateBody = Static<typeof ChangeRequestStateBody>;

/** The new state of a change request, with the properties of its transition. */
export const ChangeRequestStateReply = Type.Object(
  {
    id: Type.Number({ description: 'the id of the change request' }),
    state: Type.Enum([...changeRequestStates], { type: 'string', description: 'the current state' }),
    comment: stateComment,
    scheduledAt: Type.Optional(Timestamp('when it will be applied')),
  },
  { title: 'changeRequestStateSchema', description: 'The current state of a change request.' },
);

export const ChangeRequestEnvironmentConfig = Type.Object(
  {
    environment: Type.String({ description: 'the name of the environment' }),
    type: Type.String({ description: 'the type of the environment' }),
    changeRequestEnabled: Type.Boolean({ description: 'whether edits need a change request' }),
    requiredApprovals: Nullable(Type.Integer(), {
      description: 'the number of approvals that a new request needs; null if edits need no change request',
    }),
  },
  {
    title: 'changeRequestEnvironmentConfigSchema',
    description: 'Whether an environment of a project is protected by change requests.',
  },
);

/** The preview of one change. */
const previewedChange = Type.Object({
  id: Type.Number({ description: 'the id of the change; for a hypothetical one its place in the list' }),
  action: Type.String({ description: 'the action' }),
  conflict: Type.Optional(Type.String({ description: 'the reason why it cannot be applied' })),
  conflictCode,
  overwrites: Type.Optional(Type.Array(ChangeRequestOverwrite, { description: 'newer edits that it would undo' })),
  scheduleConflicts,
});

const diff = Type.Array(
  Type.Object({
    path: Type.String({ description: 'the location of the difference, as a JSON pointer' }),
    before: Type.Optional(Type.Unknown({ description: 'the current value; absent if it is new' })),
    after: Type.Optional(Type.Unknown({ description: 'the value after applying; absent if it is removed' })),
  }),
  { description: 'the differences, by member' },
);

export const ChangeRequestPreview = Type.Object(
  {
    features: Type.Array(
      Type.Object({
        name: Type.String({ description: 'the name of the feature' }),
        conflict: Type.Optional(Type.String({ description: 'the reason why nothing can be applied to it' })),
        conflictCode,
        defaultChange: Type.Optional(ChangeRequestDefaultChange),
        before: Nullable(AnyObject(), { description: 'the feature as it is' }),
        after: Nullable(AnyObject(), { description: 'the feature as it would be' }),
        diff,
        changes: Type.Array(previewedChange, { description: 'its changes' }),
      }),
      { description: 'by feature' },
    ),
    segments: Type.Array(
      Type.Object({
        id: Type.Number({ description: 'the id of the segment' }),
        name: Type.String({ description: 'the name of the segment' }),
        before: Nullable(AnyObject(), { description: 'the segment as it is' }),
        after: Nullable(AnyObject(), { description: 'the segment as it would be' }),
        diff,
        changes: Type.Array(previewedChange, { description: 'its changes' }),
      }),
      { description: 'by segment' },
    ),
    applicable: Type.Boolean({ description: 'whether applying would succeed now' }),
    basis: Type.Optional(
      Nullable(Type.String(), {
        description:
          'a hash of what decides the effect besides the changes and what they replace, such as a default strategy, for the approval; null for changes in conflict, which have no effect',
      }),
    ),
  },
  { title: 'changeRequestPreviewSchema', description: 'The preview of applying a change request.' },
);
export type ChangeRequestPreview = Static<typeof ChangeRequestPreview>;

export const ChangeRequestSearchItem = Type.Object(
  {
    id: Type.Number({ description: 'the id of the change request' }),
    title: Type.Optional(Type.String({ description: 'the title, if it has one' })),
    createdAt: Timestamp('when it was created'),
    createdBy: Author,
    environment: Type.String({ description: 'the environment where the changes are applied' }),
    affectedEnvironments,
    project: Type.String({ description: 'the id of the project' }),
    features: Type.Array(Type.String(), { description: 'the names of the features that it changes' }),
    segments: Type.Array(Type.String(), { description: 'the names of the segments that it changes' }),
    state: Type.Enum([...changeRequestStates], { type: 'string', description: 'the state' }),
    schedule: Type.Optional(ChangeRequestSchedule),
  },
  { title: 'changeRequestSearchItemSchema', description: 'A change request in the results of a search.' },
);
export type ChangeRequestSearchItem = Static<typeof ChangeRequestSearchItem>;

export const ChangeRequestSearchPage = Type.Object(
  {
    changeRequests: Type.Array(ChangeRequestSearchItem, {
      description: 'the change requests of this page, newest first',
    }),
    total: Type.Integer({ description: 'the number that match, on all pages' }),
  },
  { title: 'searchChangeRequestsSchema', description: 'One page of change requests.' },
);
export type ChangeRequestSearchPage = Static<typeof ChangeRequestSearchPage>;
