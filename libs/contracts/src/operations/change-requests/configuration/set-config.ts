import { Type } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { ProjectEnvironmentPath } from '../../paths.ts';

/** Protect an environment. */
export const SetChangeRequestConfig = defineOperation({
  subject: 'call.change-requests.set-config',
  operationId: 'updateProjectChangeRequestConfig',
  summary: 'Protect an environment',
  description:
    'Switches change requests on or off for an environment of a project. Emits `change-request-configuration-updated`.',
  tag: 'Change Requests',
  http: {
    method: 'PUT',
    url: '/api/admin/projects/:projectId/environments/:environment/change-requests/config',
    status: 204,
  },
  permission: ['PROJECT_CHANGE_REQUEST_WRITE', 'UPDATE_PROJECT'],
  params: ProjectEnvironmentPath,
  body: Type.Object(
    {
      changeRequestsEnabled: Type.Boolean({ description: 'whether edits are to take a change request' }),
      requiredApprovals: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1000,
          description: 'how many approvals a new request needs; moved into 1 to 10',
        }),
      ),
    },
    {
      title: 'updateChangeRequestEnvironmentConfigSchema',
      description: 'Whether an environment is to be protected by change requests.',
    },
  ),
  errors: ['ValidationError', 'NotFoundError'],
});
