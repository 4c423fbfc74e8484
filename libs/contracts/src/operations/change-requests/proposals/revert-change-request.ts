import { ChangeRequest } from '../../../model/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ChangeRequestPath } from '../../paths.ts';

/** Revert a change request. */
export const RevertChangeRequest = defineOperation({
  subject: 'call.change-requests.revert-change-request',
  operationId: 'revertChangeRequest',
  summary: 'Revert a change request',
  description:
    'Makes a draft that undoes an applied change request. What has changed since then shows as an overwrite.',
  tag: 'Change Requests',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/change-requests/:id/revert' },
  permission: 'authenticated',
  params: ChangeRequestPath,
  reply: ChangeRequest,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
