import { defineOperation } from '../../../operation.ts';
import { ChangeRequestPath } from '../../paths.ts';

/** Discards a draft. */
export const DiscardDraft = defineOperation({
  subject: 'call.change-requests.discard-draft',
  operationId: 'deleteChangeRequest',
  summary: 'Discard a draft',
  description: 'Deletes a draft, which only its author can see. Emits `change-request-discarded`.',
  tag: 'Change Requests',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId/change-requests/:id' },
  ifMatch: 'change request',
  permission: 'authenticated',
  params: ChangeRequestPath,
  errors: ['NotFoundError', 'ConflictError'],
});
