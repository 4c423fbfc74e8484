import { Type } from 'typebox';
import { ChangesBody } from '../../../changes/index.ts';
import { ChangeRequestPreview } from '../../../model/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ProjectEnvironmentPath } from '../../paths.ts';

/** Preview changes. */
export const PreviewProposal = defineOperation({
  subject: 'call.change-requests.preview-proposal',
  operationId: 'previewChanges',
  summary: 'Preview changes',
  description: 'Says what changes would come to if they were proposed and applied. Nothing is stored.',
  tag: 'Change Requests',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/environments/:environment/change-requests/preview' },
  permission: 'authenticated',
  idempotent: true,
  params: ProjectEnvironmentPath,
  body: Type.Unsafe<unknown>({ type: ['object', 'array'], documentation: ChangesBody }),
  reply: ChangeRequestPreview,
  errors: ['ValidationError', 'NotFoundError'],
});
