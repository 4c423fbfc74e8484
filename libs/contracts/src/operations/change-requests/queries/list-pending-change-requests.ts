import { Type } from 'typebox';
import { PendingChangeRequest } from '../../../model/change-requests/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ProjectPath } from '../../paths.ts';

/** Lists the caller's pending change requests of a project. */
export const ListPendingChangeRequests = defineOperation({
  subject: 'call.change-requests.list-pending-change-requests',
  operationId: 'getPendingChangeRequestsForUser',
  summary: "List the caller's pending change requests",
  description: "Returns the caller's pending change requests in the configured environments of the project.",
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/pending' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: Type.Array(PendingChangeRequest, {
    title: 'changeRequestsSchema',
    description: 'The pending change requests.',
  }),
  errors: ['NotFoundError'],
});
