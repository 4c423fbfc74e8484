import { Type } from 'typebox';
import { ChangesBody } from '../../../changes/change.ts';
import { ChangeRequest } from '../../../model/change-requests/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ProjectEnvironmentPath } from '../../paths.ts';

/** Adds changes to the caller's change request, or creates one. Emits `change-request-created` and `change-added`. */
export const AddChanges = defineOperation({
  subject: 'call.change-requests.add-changes',
  operationId: 'createChangeRequest',
  summary: 'Create or add to a change request',
  description:
    "Adds the changes to the caller's change request for this project and environment. When there is none, it is created.",
  tag: 'Change Requests',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/environments/:environment/change-requests' },
  permission: 'proposer',
  params: ProjectEnvironmentPath,
  query: Type.Object({
    new: Type.Optional(
      Type.Boolean({
        description:
          'whether to create a change request even if one is in review or approved; a draft is always added to',
      }),
    ),
  }),
  // Validation against the union of all actions could not name the invalid property, so the service validates the body by its `action`.
  body: Type.Unsafe<unknown>({ type: ['object', 'array'], documentation: ChangesBody }),
  reply: ChangeRequest,
  errors: ['ValidationError', 'ExceedsLimitError', 'ArchivedFeatureError', 'NotFoundError', 'ConflictError'],
});
