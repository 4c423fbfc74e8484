import { Type } from 'typebox';
import { PendingChangeRequest } from '../../../model/change-requests/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ProjectPath } from '../../paths.ts';

/** Lists the caller's open change requests. */
export const ListOpenChangeRequests = defineOperation({
  subject: 'call.change-requests.list-open-change-requests',
  operationId: 'getOpenChangeRequestsForUser',
  summary: "List the caller's open change requests",
  description: 'Deprecated name of the list of pending change requests.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/open' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: Type.Array(PendingChangeRequest, {
    title: 'changeRequestsSchema',
    description: 'The pending change requests.',
  }),
  errors: ['NotFoundError'],
  deprecated: true,
});
