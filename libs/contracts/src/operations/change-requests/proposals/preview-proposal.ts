import { Type } from 'typebox';
import { ChangesBody } from '../../../changes/change.ts';
import { ChangeRequestPreview } from '../../../model/change-requests/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ProjectEnvironmentPath } from '../../paths.ts';

/** Previews changes. */
export const PreviewProposal = defineOperation({
  subject: 'call.change-requests.preview-proposal',
  operationId: 'previewProposal',
  summary: 'Preview changes',
  description: 'Previews the effect of proposing and applying changes. Nothing is stored.',
  tag: 'Change Requests',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/projects/:projectId/environments/:environment/change-requests/preview' },
  permission: 'proposer',
  readsOnly: true,
  params: ProjectEnvironmentPath,
  body: Type.Unsafe<unknown>({ type: ['object', 'array'], documentation: ChangesBody }),
  reply: ChangeRequestPreview,
  errors: ['ValidationError', 'NotFoundError'],
});
