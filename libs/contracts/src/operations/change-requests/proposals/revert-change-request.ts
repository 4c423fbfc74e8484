import { ChangeRequest } from '../../../model/change-requests/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ChangeRequestPath } from '../../paths.ts';

/** Reverts a change request. */
export const RevertChangeRequest = defineOperation({
  subject: 'call.change-requests.revert-change-request',
  operationId: 'revertChangeRequest',
  summary: 'Revert a change request',
  description: 'Creates a draft that undoes an applied change request. Later changes show as overwrites.',
  tag: 'Change Requests',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/projects/:projectId/change-requests/:id/revert' },
  permission: 'proposer',
  params: ChangeRequestPath,
  reply: ChangeRequest,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
