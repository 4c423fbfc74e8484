import { ChangeRequestPreview } from '../../../model/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ChangeRequestPath } from '../../paths.ts';

/** Preview a change request. */
export const PreviewChangeRequest = defineOperation({
  subject: 'call.change-requests.preview-change-request',
  operationId: 'previewChangeRequest',
  summary: 'Preview a change request',
  description: 'Says what applying the change request would come to, by the functions that apply it.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/:id/preview' },
  permission: 'authenticated',
  params: ChangeRequestPath,
  reply: ChangeRequestPreview,
  errors: ['NotFoundError'],
});
