import { ChangeRequest } from '../../../model/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ChangeRequestPath } from '../../paths.ts';

/** Get a change request. */
export const GetChangeRequest = defineOperation({
  subject: 'call.change-requests.get-change-request',
  operationId: 'getChangeRequest',
  summary: 'Get a change request',
  description: 'Returns a change request with its changes, its conflicts and what was said about it.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/:id' },
  permission: 'authenticated',
  params: ChangeRequestPath,
  reply: ChangeRequest,
  errors: ['NotFoundError'],
});
