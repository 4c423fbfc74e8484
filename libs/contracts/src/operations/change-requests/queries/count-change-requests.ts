import { Type } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { ProjectPath } from '../../paths.ts';

/** Counts the change requests of a project. */
export const CountChangeRequests = defineOperation({
  subject: 'call.change-requests.count-change-requests',
  operationId: 'getProjectChangeRequestCount',
  summary: 'Count the change requests of a project',
  description: 'Returns the number of change requests of a project, by state, without drafts.',
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
      scheduled: Type.Integer({ description: 'those that are scheduled' }),
    },
    { title: 'changeRequestCountSchema', description: 'The number of change requests, by state.' },
  ),
  errors: ['NotFoundError'],
});
