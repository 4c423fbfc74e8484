import { Type } from 'typebox';
import { TrimmedText } from '../../../model/text-schemas.ts';
import { defineOperation } from '../../../operation.ts';
import { ChangeRequestPath } from '../../paths.ts';

/** Renames a change request. */
export const SetTitle = defineOperation({
  subject: 'call.change-requests.set-title',
  operationId: 'updateChangeRequestTitle',
  summary: 'Rename a change request',
  description: 'Sets the title of a change request.',
  tag: 'Change Requests',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/change-requests/:id/title', status: 204 },
  ifMatch: 'change request',
  permission: 'authenticated',
  params: ChangeRequestPath,
  body: Type.Object(
    {
      title: TrimmedText(255, 'the title'),
    },
    { title: 'updateChangeRequestTitleSchema', description: 'The new title of a change request.' },
  ),
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
