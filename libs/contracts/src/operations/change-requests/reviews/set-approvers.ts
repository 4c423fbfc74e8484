import { Type } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { ChangeRequestPath } from '../../paths.ts';

/** Replaces the requested approvers. Other users with the permission can still approve. */
export const SetApprovers = defineOperation({
  subject: 'call.change-requests.set-approvers',
  operationId: 'updateRequestedApprovers',
  summary: 'Ask for the approval of users',
  description:
    'Replaces the users whose approval the author asks for. Anyone else who may approve still may, and being asked gives no permission.',
  tag: 'Change Requests',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/change-requests/:id/approvers', status: 204 },
  ifMatch: 'change request',
  permission: 'authenticated',
  params: ChangeRequestPath,
  body: Type.Object(
    {
      reviewers: Type.Array(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), {
        maxItems: 10,
        uniqueItems: true,
        description: 'ids of users',
      }),
    },
    { title: 'updateRequestedApproversSchema', description: 'Whose approval is asked for.' },
  ),
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
