import { ChangeRequests } from '../../../model/change-requests/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ProjectPath } from '../../paths.ts';

/** Lists the change requests of a project. */
export const ListChangeRequests = defineOperation({
  subject: 'call.change-requests.list-change-requests',
  operationId: 'getProjectChangeRequests',
  summary: 'List the change requests of a project',
  description:
    'Returns the change requests of a project, newest first and at most 300 of them. Drafts are shown to their authors alone.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: ChangeRequests,
  errors: ['NotFoundError'],
});
