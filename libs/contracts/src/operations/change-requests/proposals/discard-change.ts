import { defineOperation } from '../../../operation.ts';
import { ChangePath } from '../../paths.ts';

/** Discards a change. */
export const DiscardChange = defineOperation({
  subject: 'call.change-requests.discard-change',
  operationId: 'discardChange',
  summary: 'Discard a change',
  description: 'Removes a change from a change request. Emits `change-discarded`.',
  tag: 'Change Requests',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId/change-requests/:id/changes/:changeId' },
  ifMatch: 'change request',
  permission: 'authenticated',
  params: ChangePath,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
