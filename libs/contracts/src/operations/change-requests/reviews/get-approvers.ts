import { Type } from 'typebox';
import { RequestedReviewer } from '../../../model/reviewer.ts';
import { defineOperation } from '../../../operation.ts';
import { ChangeRequestPath } from '../../paths.ts';

/** Lists the requested approvers with their decisions. */
export const GetApprovers = defineOperation({
  subject: 'call.change-requests.get-approvers',
  operationId: 'getRequestedApprovers',
  summary: 'List whose approval is asked for',
  description: 'Returns the users whose approval the author has asked for, with what each has decided so far.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/:id/approvers' },
  permission: 'authenticated',
  params: ChangeRequestPath,
  reply: Type.Object(
    { reviewers: Type.Array(RequestedReviewer, { description: 'in the order in which they were asked' }) },
    { title: 'requestedReviewersSchema', description: 'Whose approval is asked for.' },
  ),
  errors: ['NotFoundError'],
});
