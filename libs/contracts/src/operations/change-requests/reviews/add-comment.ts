import { Type } from 'typebox';
import { maxCommentLength } from '../../../model/change-requests/change-request.ts';
import { TrimmedText } from '../../../model/text-schemas.ts';
import { defineOperation } from '../../../operation.ts';
import { ChangeRequestPath } from '../../paths.ts';

/** Comments on a change request. */
export const AddComment = defineOperation({
  subject: 'call.change-requests.add-comment',
  operationId: 'addChangeRequestComment',
  summary: 'Comment on a change request',
  description: 'Adds a comment to a change request.',
  tag: 'Change Requests',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/change-requests/:id/comments', status: 204 },
  ifMatch: 'change request',
  permission: 'authenticated',
  params: ChangeRequestPath,
  body: Type.Object(
    {
      text: TrimmedText(maxCommentLength, 'the comment'),
    },
    { title: 'changeRequestAddCommentSchema', description: 'A comment.' },
  ),
  errors: ['ValidationError', 'NotFoundError'],
});
