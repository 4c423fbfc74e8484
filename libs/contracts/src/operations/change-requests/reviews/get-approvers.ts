import { Type } from 'typebox';
import { RequestedReviewer } from '../../../model/change-requests/reviewer.ts';
import { defineOperation } from '../../../operation.ts';
import { ChangeRequestPath } from '../../paths.ts';

/** Lists the requested approvers with their decisions. */
export const GetApprovers = defineOperation({
  subject: 'call.change-requests.get-approvers',
  operationId: 'getRequestedApprovers',
  summary: 'List the requested reviewers of a change request',
  description: 'Returns the reviewers whom the author has requested, with the decision of each.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/:id/approvers' },
  permission: 'authenticated',
  params: ChangeRequestPath,
  reply: Type.Object(
    { reviewers: Type.Array(RequestedReviewer, { description: 'in the order of the requests' }) },
    { title: 'requestedReviewersSchema', description: 'The requested reviewers.' },
  ),
  errors: ['NotFoundError'],
});
