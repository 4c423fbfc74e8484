import { ChangeRequest } from '../../../model/change-requests/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ChangeRequestPath } from '../../paths.ts';

/** Returns a change request. */
export const GetChangeRequest = defineOperation({
  subject: 'call.change-requests.get-change-request',
  operationId: 'getChangeRequest',
  summary: 'Get a change request',
  description: 'Returns a change request with its changes, conflicts and comments.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/:id' },
  permission: 'authenticated',
  params: ChangeRequestPath,
  reply: ChangeRequest,
  errors: ['NotFoundError'],
});
