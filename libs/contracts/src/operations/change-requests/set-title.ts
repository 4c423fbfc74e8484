import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ChangeRequestPath } from '../paths.ts';

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
      title: Type.String({
        maxLength: 1000,
        description: 'the title; 1 to 255 characters without the space around it',
      }),
    },
    { title: 'updateChangeRequestTitleSchema', description: 'What a change request is to be called.' },
  ),
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
