import { Type } from 'typebox';
import { SingleChangeBody } from '../../../changes/change.ts';
import { ChangeRequest } from '../../../model/change-requests/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ChangePath } from '../../paths.ts';

/** Edits a change. */
export const EditChange = defineOperation({
  subject: 'call.change-requests.edit-change',
  operationId: 'editChange',
  summary: 'Update a change',
  description:
    'Replaces a change of a change request by another one with the same action and subject. Emits `change-edited`.',
  tag: 'Change Requests',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/change-requests/:id/changes/:changeId' },
  ifMatch: 'change request',
  permission: 'proposer',
  params: ChangePath,
  body: Type.Unsafe<unknown>({ type: 'object', documentation: SingleChangeBody }),
  reply: ChangeRequest,
  errors: ['ValidationError', 'ExceedsLimitError', 'ArchivedFeatureError', 'NotFoundError', 'ConflictError'],
});
