import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { ChangeRequestPath } from '../paths.ts';
import { maxId, TrimmedText } from '../schemas.ts';
import {
  ChangeRequestEnvironmentConfig,
  ChangeRequestStateBody,
  ChangeRequestStateReply,
  changeRequestStates,
  maxCommentLength,
} from './change-request.ts';

const defineOperation = operationsOf('Change Requests');

const card = {
  id: Type.Integer({ description: 'the id of the user' }),
  email: Type.Optional(Type.String({ description: 'the e-mail address' })),
  name: Type.Optional(Type.String({ description: 'the name' })),
  username: Type.Optional(Type.String({ description: 'the user name' })),
  imageUrl: Type.Optional(Type.String({ description: "the address of the user's picture" })),
} as const;

export const Reviewer = Type.Object(card, {
  title: 'availableReviewerSchema',
  description: 'A user who may approve change requests.',
});
export type Reviewer = Static<typeof Reviewer>;

/** A user whose approval is requested; a deleted user has only an id. */
export const RequestedReviewer = Type.Object(
  {
    ...card,
    status: Type.Enum(['approved', 'rejected', 'pending'], {
      type: 'string',
      description: 'the decision of the reviewer',
    }),
  },
  {
    title: 'requestedReviewerSchema',
    description: 'A requested reviewer; a deleted user has only an id.',
  },
);
export type RequestedReviewer = Static<typeof RequestedReviewer>;

const status = RequestedReviewer.properties.status;

/** Who reviews a change request, what is missing, and what the caller may do with it now. */
export const ChangeRequestReview = Type.Object(
  {
    author: Type.Object(card, { description: 'the author; a deleted user has only an id' }),
    reviewers: Type.Array(
      Type.Object({
        ...card,
        status,
        isRequested: Type.Boolean({ description: 'whether the author has requested the review' }),
        mayApprove: Type.Boolean({ description: 'whether the user may approve it; false once it is closed' }),
      }),
      {
        description:
          'the users whose review is requested, those who have decided, and then up to 100 others who may approve, by name; a deleted user has only an id',
      },
    ),
    missingApprovals: Type.Integer({ minimum: 0, description: 'the number of approvals that it lacks' }),
    states: Type.Array(Type.Enum([...changeRequestStates], { type: 'string' }), {
      description: 'the states to which the caller may move it now; `Approved` adds the approval of the caller',
    }),
    mayEdit: Type.Boolean({ description: 'whether the caller may discard and update its changes' }),
    mayRename: Type.Boolean({ description: 'whether the caller may set its title' }),
    mayRequestReviewers: Type.Boolean({ description: 'whether the caller may set the requested reviewers' }),
    mayRevert: Type.Boolean({ description: 'whether the caller may revert it' }),
  },
  {
    title: 'changeRequestReviewSchema',
    description: 'Who reviews a change request, and what the caller may do with it.',
  },
);
export type ChangeRequestReview = Static<typeof ChangeRequestReview>;

/** A later call may still be refused: the request, its flags and permissions can change in between. */
export const GetChangeRequestReview = defineOperation({
  subject: 'call.change-requests.get-change-request-review',
  summary: 'Get who reviews a change request, and what the caller may do with it',
  description:
    'Returns who may approve a change request and who did, the number of approvals that it lacks, and what the caller may do with it by state and permission.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/:id/review' },
  permission: 'authenticated',
  params: ChangeRequestPath,
  reply: ChangeRequestReview,
});

export const AddComment = defineOperation({
  subject: 'call.change-requests.add-comment',
  operationId: 'addChangeRequestComment',
  summary: 'Comment on a change request',
  description: 'Adds a comment to a change request.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/change-requests/:id/comments', status: 204 },
  ifMatch: 'change request',
  permission: 'authenticated',
  params: ChangeRequestPath,
  body: Type.Object(
    {
      text: TrimmedText(maxCommentLength, 'the comment'),
      changeId: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'the id of the change that it is about; without it, it is about the whole change request',
        }),
      ),
    },
    { title: 'changeRequestAddCommentSchema', description: 'A comment.' },
  ),
});

export const GetApprovers = defineOperation({
  subject: 'call.change-requests.get-approvers',
  operationId: 'getRequestedApprovers',
  summary: 'List the requested reviewers of a change request',
  description: 'Returns the reviewers whom the author has requested, with the decision of each.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/:id/approvers' },
  permission: 'authenticated',
  params: ChangeRequestPath,
  reply: Type.Object(
    { reviewers: Type.Array(RequestedReviewer, { description: 'in the order of the requests' }) },
    { title: 'requestedReviewersSchema', description: 'The requested reviewers.' },
  ),
});

export const ListAvailableReviewers = defineOperation({
  subject: 'call.change-requests.list-available-reviewers',
  operationId: 'getAvailableReviewers',
  summary: 'List the users who may approve change requests in an environment',
  description:
    'Returns the active users who may approve change requests in the environment. Callers find themselves only if they may approve their own.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/available-reviewers/:environment' },
  permission: 'authenticated',
  reply: Type.Object(
    { reviewers: Type.Array(Reviewer, { description: 'by name' }) },
    { title: 'availableReviewersSchema', description: 'The users who may approve change requests in the environment.' },
  ),
});

/** Other users with the permission can still approve. */
export const SetApprovers = defineOperation({
  subject: 'call.change-requests.set-approvers',
  operationId: 'updateRequestedApprovers',
  summary: 'Set the requested reviewers of a change request',
  description:
    'Replaces the reviewers whom the author has requested. A request grants no permission: every permitted reviewer may approve.',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/change-requests/:id/approvers', status: 204 },
  ifMatch: 'change request',
  permission: 'authenticated',
  params: ChangeRequestPath,
  body: Type.Object(
    {
      reviewers: Type.Array(Type.Integer({ minimum: 1, maximum: maxId }), {
        maxItems: 10,
        uniqueItems: true,
        description: 'ids of users',
      }),
    },
    { title: 'updateRequestedApproversSchema', description: 'The requested reviewers.' },
  ),
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});

export const ChangeState = defineOperation({
  subject: 'call.change-requests.change-state',
  operationId: 'updateChangeRequestState',
  summary: 'Move a change request to another state',
  description: 'Sends a change request to review, approves, rejects, cancels, applies or schedules it.',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/change-requests/:id/state' },
  ifMatch: 'change request',
  permission: 'authenticated',
  params: ChangeRequestPath,
  body: ChangeRequestStateBody,
  reply: ChangeRequestStateReply,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});

export const GetChangeRequestConfig = defineOperation({
  subject: 'call.change-requests.get-change-request-config',
  operationId: 'getProjectChangeRequestConfig',
  summary: 'Get the change request configuration of a project',
  description: 'Returns the environments of a project, and whether change requests protect each.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/config' },
  permission: 'authenticated',
  reply: Type.Array(ChangeRequestEnvironmentConfig, {
    title: 'changeRequestConfigSchema',
    description: 'The environments of the project, in their order.',
  }),
});

export const SetChangeRequestConfig = defineOperation({
  subject: 'call.change-requests.set-change-request-config',
  operationId: 'updateProjectChangeRequestConfig',
  summary: 'Protect an environment',
  description:
    'Enables or disables change requests for an environment of a project. Emits `change-request-configuration-updated`.',
  http: {
    method: 'PUT',
    url: '/api/admin/projects/:projectId/environments/:environment/change-requests/config',
    status: 204,
  },
  permission: ['PROJECT_CHANGE_REQUEST_WRITE', 'UPDATE_PROJECT'],
  body: Type.Object(
    {
      changeRequestsEnabled: Type.Boolean({ description: 'whether edits need a change request' }),
      requiredApprovals: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1000,
          description:
            'the number of approvals that requests need, from 1 to 10; without it, or with 0, it is 1 or what the environment asks for',
        }),
      ),
    },
    {
      title: 'updateChangeRequestEnvironmentConfigSchema',
      description: 'Whether change requests protect an environment.',
    },
  ),
});
