import { Type } from 'typebox';
import { maxId } from '../../../model/schema.ts';
import { defineOperation } from '../../../operation.ts';
import { ChangeRequestPath } from '../../paths.ts';

/** Replaces the requested approvers. Other users with the permission can still approve. */
export const SetApprovers = defineOperation({
  subject: 'call.change-requests.set-approvers',
  operationId: 'updateRequestedApprovers',
  summary: 'Set the requested reviewers of a change request',
  description:
    'Replaces the reviewers whom the author has requested. A request grants no permission: every permitted reviewer may approve.',
  tag: 'Change Requests',
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
