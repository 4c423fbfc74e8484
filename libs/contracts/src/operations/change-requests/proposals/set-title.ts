import { Type } from 'typebox';
import { TrimmedText } from '../../../model/patterns.ts';
import { defineOperation } from '../../../operation.ts';
import { ChangeRequestPath } from '../../paths.ts';

/** Rename a change request. */
export const SetTitle = defineOperation({
  subject: 'call.change-requests.set-title',
  operationId: 'updateChangeRequestTitle',
  summary: 'Rename a change request',
  description: 'Gives a change request another title.',
  tag: 'Change Requests',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/change-requests/:id/title', status: 204 },
  ifMatch: 'change request',
  permission: 'authenticated',
  params: ChangeRequestPath,
  body: Type.Object(
    {
      title: TrimmedText(255, 'the title'),
    },
    { title: 'updateChangeRequestTitleSchema', description: 'What a change request is to be called.' },
  ),
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
