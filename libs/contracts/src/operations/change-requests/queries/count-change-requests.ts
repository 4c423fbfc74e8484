import { Type } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { ProjectPath } from '../../paths.ts';

/** Count the change requests of a project. */
export const CountChangeRequests = defineOperation({
  subject: 'call.change-requests.count-change-requests',
  operationId: 'getProjectChangeRequestCount',
  summary: 'Count the change requests of a project',
  description: 'Says how many change requests a project has, by state. Drafts do not count.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/count' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: Type.Object(
    {
      total: Type.Integer({ description: 'all but drafts' }),
      applied: Type.Integer({ description: 'those that were applied' }),
      approved: Type.Integer({ description: 'those that have enough approvals' }),
      rejected: Type.Integer({ description: 'those that were rejected' }),
      reviewRequired: Type.Integer({ description: 'those in review' }),
      scheduled: Type.Integer({ description: 'those that have a time' }),
    },
    { title: 'changeRequestCountSchema', description: 'How many change requests there are, by state.' },
  ),
  errors: ['NotFoundError'],
});
