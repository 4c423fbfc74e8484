import { Type } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { ProjectPath } from '../../paths.ts';

/** Count what the caller can act on. */
export const CountActionable = defineOperation({
  subject: 'call.change-requests.count-actionable',
  operationId: 'getProjectActionableChangeRequests',
  summary: 'Count what the caller can act on',
  description: 'Says how many change requests of a project the caller can approve or apply now.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/actionable' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: Type.Object(
    { total: Type.Integer({ description: 'how many change requests wait for the caller' }) },
    { title: 'actionableChangeRequestsSchema', description: 'How many change requests wait for the caller.' },
  ),
  errors: ['NotFoundError'],
});
