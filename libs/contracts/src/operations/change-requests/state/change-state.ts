import { ChangeRequestStateBody, ChangeRequestStateReply } from '../../../model/change-requests/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ChangeRequestPath } from '../../paths.ts';

/** Moves a change request to another state. */
export const ChangeState = defineOperation({
  subject: 'call.change-requests.change-state',
  operationId: 'updateChangeRequestState',
  summary: 'Move a change request to another state',
  description: 'Sends a change request to review, approves, rejects, cancels, applies or schedules it.',
  tag: 'Change Requests',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/change-requests/:id/state' },
  ifMatch: 'change request',
  permission: 'authenticated',
  params: ChangeRequestPath,
  body: ChangeRequestStateBody,
  reply: ChangeRequestStateReply,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
