import { Type } from 'typebox';
import { ChangeRequestEnvironmentConfig } from '../../../model/change-requests/change-request.ts';
import { defineOperation } from '../../../operation.ts';
import { ProjectPath } from '../../paths.ts';

/** Returns the change request configuration of a project. */
export const GetChangeRequestConfig = defineOperation({
  subject: 'call.change-requests.get-change-request-config',
  operationId: 'getProjectChangeRequestConfig',
  summary: 'Get the change request configuration of a project',
  description: 'Returns the environments of a project, and whether change requests protect each.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/change-requests/config' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: Type.Array(ChangeRequestEnvironmentConfig, {
    title: 'changeRequestConfigSchema',
    description: 'The environments of the project, in their order.',
  }),
  errors: ['NotFoundError'],
});
