import { ChangeRequestPreview } from '../../../model/change-requests/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ChangeRequestPath } from '../../paths.ts';

/** Previews a change request. */
export const PreviewChangeRequest = defineOperation({
  subject: 'call.change-requests.preview-change-request',
  operationId: 'previewChangeRequest',
  summary: 'Preview a change request',
  description: 'Previews the effect of applying the change request, by the functions that apply it.',
  tag: 'Change Requests',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/:id/preview' },
  permission: 'authenticated',
  params: ChangeRequestPath,
  reply: ChangeRequestPreview,
  errors: ['NotFoundError'],
});
