import { ChangeRequests } from '../../../model/change-requests/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ProjectFeaturePath } from '../../paths.ts';

/** Lists the pending change requests of a feature. */
export const ListPendingOfFeature = defineOperation({
  subject: 'call.change-requests.list-pending-of-feature',
  operationId: 'getPendingChangeRequestsForFeature',
  summary: 'List the pending change requests of a feature',
  description: 'Returns the pending change requests of all users that touch the feature.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/pending/:featureName' },
  permission: 'authenticated',
  params: ProjectFeaturePath,
  reply: ChangeRequests,
  errors: ['NotFoundError'],
});
