import { Type } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { ProjectPath } from '../../paths.ts';

/** Counts the change requests that the caller can approve or apply now. */
export const CountActionable = defineOperation({
  subject: 'call.change-requests.count-actionable',
  operationId: 'getProjectActionableChangeRequests',
  summary: 'Count the change requests that the caller can act on',
  description: 'Returns the number of change requests of a project that the caller can approve or apply now.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/actionable' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: Type.Object(
    { total: Type.Integer({ description: 'the number of change requests that the caller can act on' }) },
    {
      title: 'actionableChangeRequestsSchema',
      description: 'The number of change requests that the caller can act on.',
    },
  ),
  errors: ['NotFoundError'],
});
