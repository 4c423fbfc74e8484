import { Type } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { ProjectEnvironmentPath } from '../../paths.ts';

/** Protects an environment. */
export const SetChangeRequestConfig = defineOperation({
  subject: 'call.change-requests.set-change-request-config',
  operationId: 'updateProjectChangeRequestConfig',
  summary: 'Protect an environment',
  description:
    'Enables or disables change requests for an environment of a project. Emits `change-request-configuration-updated`.',
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
      changeRequestsEnabled: Type.Boolean({ description: 'whether edits need a change request' }),
      requiredApprovals: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1000,
          description:
            'the number of approvals that requests need, from 1 to 10; without it, or with 0, it is 1 or what the environment asks for',
        }),
      ),
    },
    {
      title: 'updateChangeRequestEnvironmentConfigSchema',
      description: 'Whether change requests protect an environment.',
    },
  ),
  errors: ['ValidationError', 'NotFoundError'],
});
