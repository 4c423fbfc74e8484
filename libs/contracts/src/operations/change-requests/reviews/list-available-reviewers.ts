import { Type } from 'typebox';
import { Reviewer } from '../../../model/change-requests/reviewer.ts';
import { defineOperation } from '../../../operation.ts';
import { ProjectEnvironmentPath } from '../../paths.ts';

/** Lists who may approve change requests in an environment of a project. */
export const ListAvailableReviewers = defineOperation({
  subject: 'call.change-requests.list-available-reviewers',
  operationId: 'getAvailableReviewers',
  summary: 'List the users who may approve change requests in an environment',
  description:
    'Returns the active users who may approve change requests in the environment. Callers find themselves only if they may approve their own.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/available-reviewers/:environment' },
  permission: 'authenticated',
  params: ProjectEnvironmentPath,
  reply: Type.Object(
    { reviewers: Type.Array(Reviewer, { description: 'by name' }) },
    { title: 'availableReviewersSchema', description: 'The users who may approve change requests in the environment.' },
  ),
  errors: ['NotFoundError'],
});
